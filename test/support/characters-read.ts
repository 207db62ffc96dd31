/**
 * How many characters a function reads of texts through expressions and searches: those between where one begins and where its match
 * ends, or the end of the text where there is none. A walk written by hand that is not linear reads many for each there are.
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
