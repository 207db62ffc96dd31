// Shows progress: a bar in a terminal, plain lines elsewhere.

/**
 * @param {string} what
 * @param {number} done
 * @param {number} total
 */
export function showProgress(what, done, total) {
  const share = total === 0 ? 1 : done / total
  const bar = '█'.repeat(Math.round(share * 30)).padEnd(30, '·')
  const line = `${bar} ${done}/${total} ${what}`
  process.stdout.write(process.stdout.isTTY ? `\r\x1b[2K${line}${done === total ? '\n' : ''}` : `${line}\n`)
}
