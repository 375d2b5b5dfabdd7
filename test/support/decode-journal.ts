import { type Journal, journalReader } from '../../runtime/sync/apply/journal.ts'

/** Decodes the text of a journal. Throws StateUnreadable. */
export function decodeJournal(text: string): Journal {
  const reader = journalReader()
  for (const line of text.replace(/\n$/, '').split('\n')) reader.line(line)
  return reader.finish()
}
