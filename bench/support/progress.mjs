// Shows progress in a terminal with a bar, elsewhere with one line per step.
const WIDTH = 28

/**
 * @param {string} label
 * @param {number} total
 */
export function progress(label, total) {
  const live = process.stderr.isTTY
  const started = performance.now()
  let done = 0
  let drawnAt = 0
  const seconds = () => ((performance.now() - started) / 1000).toFixed(1)
  const draw = (note) => {
    const filled = Math.round((WIDTH * done) / Math.max(total, 1))
    const bar = `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)}`
    process.stderr.write(`\r\x1b[2K${label.padEnd(38)} ${bar} ${done}/${total} ${seconds()} s ${note}`)
  }
  return {
    /** @param {number} steps @param {string} [note] */
    tick(steps = 1, note = '') {
      done = Math.min(total, done + steps)
      if (!live || performance.now() - drawnAt < 80) return
      drawnAt = performance.now()
      draw(note)
    },
    /** @param {string} [note] */
    finish(note = '') {
      done = total
      if (live) {
        draw(note)
        process.stderr.write('\n')
      } else process.stderr.write(`${label}: ${total} in ${seconds()} s ${note}\n`)
    },
  }
}
