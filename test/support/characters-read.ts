/**
 * Counts the characters that a function reads through expressions and string searches: from the start of each to the
 * end of its match, or to the end of the text without a match. A function that is not linear reads many times the text.
 */
export function charactersRead(work: () => unknown): number {
  let read = 0
  const { exec } = RegExp.prototype
  const { indexOf } = String.prototype
  RegExp.prototype.exec = function (this: RegExp, text: string) {
    const from = this.global || this.sticky ? this.lastIndex : 0
    const match = exec.call(this, text)
    const to = match === null ? (this.sticky ? from : text.length) : match.index + match[0].length
    read += to - from + 1
    return match
  }
  String.prototype.indexOf = function (this: string, wanted: string, from = 0) {
    const at = indexOf.call(this, wanted, from)
    read += (at < 0 ? this.length : at) - from + 1
    return at
  }
  try {
    work()
  } finally {
    RegExp.prototype.exec = exec
    String.prototype.indexOf = indexOf
  }
  return read
}
