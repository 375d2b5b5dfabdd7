/**
 * Words and patterns that the project's texts avoid, each with its replacement, and British spellings.
 */

export type Avoided = { pattern: RegExp; advice: string }

const advices: Readonly<Record<string, readonly string[]>> = {
  'write "again", or name the action: recreated, reloaded': ['anew'],
  'name the person: the user, the author, your cluster administrator': ['whoever', 'somebody', 'someone', 'nobody', 'no one'],
  'name the thing: the value, the path': ['whatever', 'whichever'],
  'write "automatically"': ['by itself', 'by themselves', 'of its own accord'],
  'write "is not a …"': ['(?<!there )(?:is|are|was|were) no(?! longer| more| less)'],
  'write "shows", "reports", "names" or "prints"': ['tells?', 'told', 'telling'],
  'write "is" or "is listed"': ['stands? in', 'stood in', 'stands? (?:above|below|there|for)'],
  'name the thing that the clause is about': ['of which', 'on which', 'such that', 'what becomes of', 'what became of'],
  'write "validation" or "check"': ['gate', 'gates', 'gated'],
  'write "reconcile"': ['(?:each|one|every|next|first|last|a|per) pass', 'passes over'],
  'write "desired"': ['wanted'],
  'write "check", "see" or "find"': ['looks?(?! up| like| for| ahead| at)', 'looked', 'looks? whether'],
  'write "fix" or "correct"': ['put right', 'puts right', 'mend(?:s|ed)?'],
  'write "more memory" or "space"': ['room'],
  // A section of `cluster-sync check` has that name.
  'write "permissions"': [String.raw`(?<=\S\s)rights`],
  'write "by default"': ['without more said', 'unless told'],
  'write "anyway" or leave it out': ['all the same', 'as it were'],
  'write "until then" or leave it out': ['for the time being'],
  'use a plain preposition: in, with, from': ['therein', 'thereof', 'thereby', 'whereby', 'herein', 'hitherto'],
  'write "while"': ['whilst'],
  'write "among"': ['amongst'],
  'leave it out': ['simply', 'basically', 'obviously'],
}

export const avoided: readonly Avoided[] = Object.entries(advices).flatMap(([advice, patterns]) =>
  patterns.map((pattern) => ({ pattern: new RegExp(String.raw`(?<![\w-])${pattern}(?![\w-])`, 'i'), advice })),
)

/** British spellings with the American one. */
export const british: readonly Avoided[] = [
  [
    /\b\w*(?:author|recogn|initial|serial|synchron|normal|organ|minim|maxim|optim|summar|synthes|custom|util|final|special|general|priorit|categor)is(?:e|es|ed|ing|ation|er|ers)\b/i,
    '-ize',
  ],
  [/\b(?:armour|behaviour|colour|favour|honour|neighbour|labour|flavour)\w*\b/i, '-or'],
  [/\b(?:cancell|labell|modell|travell|signall|tunnell)(?:ed|ing)\b/i, 'one l'],
  [/\b(?:centre|metre|fibre)s?\b/i, '-er'],
  [/\b(?:licence|defence|offence)s?\b/i, '-se'],
  [/\b(?:analyse|catalogue|grey|programme|artefact|judgement|fulfil|cheque|ageing)(?:s|d)?\b/i, 'the American spelling'],
].map(([pattern, ending]) => ({ pattern: pattern as RegExp, advice: `use US spelling (${String(ending)})` }))

/** Words of a sentence; code counts as one. Longer sentences are split or become a list. */
export const maxWords = 35
