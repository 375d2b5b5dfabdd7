/**
 * Splits a stream into lines, such as the events of a watch.
 */

/**
 * Yields UTF-8 lines without line ends; the last one may lack its line end. Throws RangeError for a line beyond the bound as soon as it is
 * exceeded.
 */
export async function* linesOf(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<string> {
  let buffered: Buffer[] = []
  let size = 0
  const hold = (piece: Buffer): void => {
    size += piece.length
    if (size > maxBytes) throw new RangeError(`a line is longer than ${maxBytes} bytes`)
    if (piece.length > 0) buffered.push(piece)
  }
  const take = (): string => {
    const line = Buffer.concat(buffered, size).toString('utf8')
    buffered = []
    size = 0
    return line
  }
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(lineEnd); end !== -1; end = chunk.indexOf(lineEnd, start)) {
      hold(chunk.subarray(start, end))
      yield take()
      start = end + 1
    }
    hold(chunk.subarray(start))
  }
  if (size > 0) yield take()
}

const lineEnd = 0x0a
