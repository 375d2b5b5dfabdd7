/**
 * What somebody is told who could not log in. Pure.
 */
import type { Language } from '../words.ts'

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
    away: 'The identity provider does not answer. Try again later; what runs on the gateways goes on.',
    attempt: 'This login has expired, was begun in another browser, or has been used already. Begin again.',
    refused: 'The identity provider refused the login.',
    failed: 'What the identity provider answered does not prove who you are. If this stays, the controller’s log says why.',
    noName:
      'The identity provider gives no name that is valid here: the claim of statusPage.oidc.usernameClaim is missing, or is a name of the cluster itself.',
    unverified: 'The identity provider has not confirmed your e-mail address, by which you would be known here.',
    overage: 'You are in more groups than the identity provider names or a session holds. Have it name only groups that matter here.',
    key: 'The Secret of the login (statusPage.oidc.secretRef) is not there yet or is too short.',
    origin: 'This did not come from a page of ours, so you are still logged in.',
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
    key: 'Das Secret der Anmeldung (statusPage.oidc.secretRef) ist noch nicht da oder zu kurz.',
    origin: 'Die Anfrage kam nicht von dieser Anwendung, deshalb sind Sie noch angemeldet.',
  },
}

/** The words of the login. */
export function loginWordsIn(language: Language): LoginWords {
  return language === 'de' ? german : english
}
