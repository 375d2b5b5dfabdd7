/**
 * Localized texts for failed logins. Pure.
 */
import type { Language } from './texts.ts'

export type LoginProblem = 'away' | 'attempt' | 'refused' | 'failed' | 'noName' | 'unverified' | 'overage' | 'key' | 'origin'

export type LoginWords = {
  title: string
  again: string
  problems: Readonly<Record<LoginProblem, string>>
}

const english: LoginWords = {
  title: 'Not logged in',
  again: 'Log in',
  problems: {
    away: 'The identity provider does not answer. Try again later. The gateways keep running.',
    attempt: 'This login expired, was started in another browser, or was already used. Log in again.',
    refused: 'The identity provider refused the login.',
    failed: 'The response of the identity provider does not identify you. If this persists, see the log of the controller.',
    noName:
      'The identity provider returned no valid name: the claim set in statusPage.oidc.usernameClaim is missing, or the cluster reserves the name.',
    unverified: 'The identity provider has not verified the email address that identifies you here.',
    overage:
      'You are in more groups than the identity provider returns or a session can hold. Configure it to return only the groups that matter here.',
    key: 'The Secret of the login (statusPage.oidc.secretRef) does not exist yet, or its key is too short.',
    origin: 'The request did not come from this site, so you are still logged in.',
  },
}

const german: LoginWords = {
  title: 'Nicht angemeldet',
  again: 'Anmelden',
  problems: {
    away: 'Der Identitätsanbieter antwortet nicht. Versuchen Sie es später noch einmal; was auf den Gateways läuft, läuft weiter.',
    attempt: 'Diese Anmeldung ist abgelaufen, wurde in einem anderen Browser begonnen oder schon verwendet. Beginnen Sie neu.',
    refused: 'Der Identitätsanbieter hat die Anmeldung abgelehnt.',
    failed: 'Die Antwort des Identitätsanbieters weist Sie nicht aus. Wiederholt sich das, steht der Grund im Log des Controllers.',
    noName:
      'Der Identitätsanbieter liefert keinen Namen, der hier gilt: Der Claim aus statusPage.oidc.usernameClaim fehlt oder ist ein Name des Clusters selbst.',
    unverified: 'Der Identitätsanbieter hat Ihre E-Mail-Adresse nicht bestätigt, unter der Sie hier bekannt wären.',
    overage:
      'Sie sind in mehr Gruppen, als der Identitätsanbieter nennt oder eine Sitzung fasst. Lassen Sie nur die Gruppen übermitteln, auf die es hier ankommt.',
    key: 'Das Secret der Anmeldung (statusPage.oidc.secretRef) ist noch nicht da, oder sein Schlüssel ist zu kurz.',
    origin: 'Die Anfrage kam nicht von dieser Anwendung, deshalb sind Sie noch angemeldet.',
  },
}

/** The texts of the login. */
export function loginWordsIn(language: Language): LoginWords {
  return language === 'de' ? german : english
}
