/**
 * Localized texts of logins and actions. Pure.
 */
import { isCommitHash, shortCommit } from '../../api/values.ts'
import type { Language } from './texts.ts'
import { type Action, type ActionName, partsOfRollout } from '../actions/action.ts'

/** `label` is the text of a link or button, `means` describes the effect. */
type ActionText = { label(of: string): string; means(of: string): string }

export type ActionTexts = {
  actions: string
  byAction: Readonly<Record<ActionName, ActionText>>
  /** For going back to an earlier commit. */
  goBack: string
  cancel: string
  asWhom(name: string): string
  account: string
  youAre: string
  groups: string
  noGroups: string
  logIn: string
  logOut: string
  loggedOut: string
  alsoThere: string
  again: string
  /** Why an action was refused. */
  refused: Readonly<Record<'right' | 'origin' | 'form' | 'rate' | 'state' | 'away' | 'large', string>>
}

function named(of: string): string {
  return isCommitHash(of) ? shortCommit(of) : of
}

function rolledOut(of: string): string {
  return named(partsOfRollout(of).commit)
}

const english: ActionTexts = {
  actions: 'Actions',
  byAction: {
    sync: {
      label: () => 'Sync now',
      means: () => 'Checks the git host now, without waiting for the next poll, and publishes the new commit if there is one.',
    },
    pause: {
      label: () => 'Pause',
      means: () => 'Nothing is written to the gateways until the GatewaySync is resumed. Commits are still fetched and validated.',
    },
    resume: {
      label: () => 'Resume',
      means: (of) =>
        `The gateways follow the published commit again${of === '' ? '' : `, and the stopped rollout of commit ${rolledOut(of)} continues`}.`,
    },
    rollback: {
      label: (of) => (isCommitHash(of) ? `Back to ${named(of)}` : `Follow ${of} again`),
      means: (of) =>
        isCommitHash(of)
          ? `Sets spec.git.ref to this commit (${of}), or spec.oci.digest to its artifact. The gateways return to it and stay there, regardless of pushes, until a branch or tag is followed again. If a GitOps tool manages this GatewaySync, make the same change there.`
          : `Sets spec.git.ref to ${of}: the gateways follow what is pushed there. If a GitOps tool manages this GatewaySync, make the same change there.`,
    },
    'confirm-deletions': {
      label: (of) => `Confirm the deletions in ${named(of)}`,
      means: (of) =>
        `Every gateway applies commit ${named(of)} when its stage starts, even though the commit deletes more files than maxDeletions permits.`,
    },
    'confirm-overwrites': {
      label: (of) => `Let ${named(of)} overwrite local changes`,
      means: (of) =>
        `Every gateway applies commit ${named(of)} when its stage starts. Local changes to files that the commit changes are lost. To keep them, capture them first.`,
    },
    approve: {
      label: (of) => `Approve stage ${partsOfRollout(of).stage}`,
      means: (of) => `The rollout of commit ${rolledOut(of)} continues with the gateways of stage ${partsOfRollout(of).stage}.`,
    },
    abort: {
      label: () => 'Abort the rollout',
      means: (of) =>
        `The rollout of commit ${rolledOut(of)} ends: gateways that applied it return to the previous commit, and all others keep theirs.`,
    },
    capture: {
      label: () => 'Capture local changes',
      means: () => 'Local changes on the gateways are pushed to a branch for review. The gateways keep them.',
    },
  },
  goBack: 'Back to an earlier commit',
  cancel: 'Cancel',
  asWhom: (name) => `This is done as ${name} and recorded in an Event.`,
  account: 'Account',
  youAre: 'You are',
  groups: 'Your groups',
  noGroups: 'none',
  logIn: 'Log in',
  logOut: 'Log out',
  loggedOut: 'You are logged out.',
  alsoThere: 'Log out of the identity provider too',
  again: 'Go back and try again',
  refused: {
    right: 'You may not change this GatewaySync: this requires permission to patch gatewaysyncs.clustersync.io in its namespace.',
    origin: 'The request did not come from this site, so nothing was changed.',
    form: 'This form has expired: it is valid for ten minutes, in one browser, and requires cookies. Nothing was done.',
    rate: 'Too many actions within a minute. Nothing was done; try again in a minute.',
    state: 'This is no longer possible, so nothing was done.',
    away: 'The cluster does not answer, so it is unknown whether anything was done. Try again later.',
    large: 'This form is too large. Nothing was done.',
  },
}

const german: ActionTexts = {
  actions: 'Aktionen',
  byAction: {
    sync: {
      label: () => 'Jetzt synchronisieren',
      means: () =>
        'Der Git-Server wird sofort abgefragt, ohne auf die nächste Abfrage zu warten, und was dort neu ist, geht an die Gateways.',
    },
    pause: {
      label: () => 'Pausieren',
      means: () =>
        'Auf die Gateways wird nichts mehr geschrieben, bis die Synchronisierung fortgesetzt wird. Commits werden trotzdem geholt und geprüft.',
    },
    resume: {
      label: () => 'Fortsetzen',
      means: (of) =>
        `Die Gateways folgen wieder dem, was veröffentlicht ist${of === '' ? '' : `, und der angehaltene Rollout von Commit ${rolledOut(of)} geht weiter`}.`,
    },
    rollback: {
      label: (of) => (isCommitHash(of) ? `Zurück zu ${named(of)}` : `Wieder ${of} folgen`),
      means: (of) =>
        isCommitHash(of)
          ? `Setzt spec.git.ref auf diesen Commit (${of}), oder spec.oci.digest auf sein Artefakt: Die Gateways kehren zu ihm zurück und bleiben dort, was auch immer gepusht wird, bis sie wieder einem Branch oder Tag folgen. Verwaltet ein anderes Werkzeug diesen GatewaySync (GitOps), setzen Sie spec.git.ref auch dort.`
          : `Setzt spec.git.ref auf ${of}: Die Gateways folgen dem, was dort gepusht wird. Verwaltet ein anderes Werkzeug diesen GatewaySync (GitOps), setzen Sie spec.git.ref auch dort.`,
    },
    'confirm-deletions': {
      label: (of) => `Löschungen von ${named(of)} bestätigen`,
      means: (of) =>
        `Alle Gateways übernehmen Commit ${named(of)}, sobald sie an der Reihe sind, obwohl er mehr Dateien löscht, als maxDeletions erlaubt.`,
    },
    'confirm-overwrites': {
      label: (of) => `Lokale Änderungen durch ${named(of)} überschreiben`,
      means: (of) =>
        `Alle Gateways übernehmen Commit ${named(of)}, sobald sie an der Reihe sind: Lokale Änderungen an Dateien, die er ändert, gehen verloren. Um sie zu behalten, sichern Sie sie vorher.`,
    },
    approve: {
      label: (of) => `Stufe ${partsOfRollout(of).stage} freigeben`,
      means: (of) => `Der Rollout von Commit ${rolledOut(of)} geht weiter zu den Gateways der Stufe ${partsOfRollout(of).stage}.`,
    },
    abort: {
      label: () => 'Rollout abbrechen',
      means: (of) =>
        `Der Rollout von Commit ${rolledOut(of)} wird abgebrochen: Gateways, die ihn haben, kehren zum vorigen zurück, alle anderen behalten ihren Stand.`,
    },
    capture: {
      label: () => 'Lokale Änderungen sichern',
      means: () => 'Lokale Änderungen der Gateways werden zur Prüfung auf einen Branch gepusht. Die Gateways behalten sie.',
    },
  },
  goBack: 'Zurück zu einem früheren Commit',
  cancel: 'Abbrechen',
  asWhom: (name) => `Dies geschieht in Ihrem Namen (${name}) und wird in einem Event festgehalten.`,
  account: 'Konto',
  youAre: 'Sie sind',
  groups: 'Ihre Gruppen',
  noGroups: 'keine',
  logIn: 'Anmelden',
  logOut: 'Abmelden',
  loggedOut: 'Sie sind abgemeldet.',
  alsoThere: 'Auch beim Identitätsanbieter abmelden',
  again: 'Zurück und noch einmal versuchen',
  refused: {
    right:
      'Sie dürfen diesen GatewaySync nicht ändern: Dazu brauchen Sie das Recht „patch“ für gatewaysyncs.clustersync.io in seinem Namespace.',
    origin: 'Die Anfrage kam nicht von dieser Anwendung, deshalb wurde nichts getan.',
    form: 'Dieses Formular ist abgelaufen: Es gilt zehn Minuten und nur in einem Browser, der Cookies zulässt. Es wurde nichts getan.',
    rate: 'Zu viele Aktionen in einer Minute. Es wurde nichts getan; versuchen Sie es in einer Minute noch einmal.',
    state: 'Das ist nicht mehr möglich, deshalb wurde nichts getan.',
    away: 'Der Cluster antwortet nicht, deshalb ist nicht bekannt, ob etwas getan wurde. Versuchen Sie es später noch einmal.',
    large: 'Dieses Formular ist zu groß. Es wurde nichts getan.',
  },
}

/** The texts of forms and buttons. */
export function actionTextsIn(language: Language): ActionTexts {
  return language === 'de' ? german : english
}

/** The label of an action, for its link and button. */
export function labelOf({ name, of }: Action, texts: ActionTexts): string {
  return texts.byAction[name].label(of)
}

export type LoginProblem = 'away' | 'attempt' | 'refused' | 'failed' | 'noName' | 'unverified' | 'overage' | 'key' | 'origin'

type LoginTexts = {
  title: string
  again: string
  problems: Readonly<Record<LoginProblem, string>>
}

const englishLogin: LoginTexts = {
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
      'You are in more groups than the identity provider returns or a session can hold. Configure the provider to return only the groups that matter here.',
    key: 'The login Secret (statusPage.oidc.secretRef) does not exist yet, or its key is too short.',
    origin: 'The request did not come from this site, so you are still logged in.',
  },
}

const germanLogin: LoginTexts = {
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
export function loginTextsIn(language: Language): LoginTexts {
  return language === 'de' ? germanLogin : englishLogin
}
