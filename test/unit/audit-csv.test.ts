import { expect, it } from 'vitest'
import { csvField } from '../../src/http/dashboard/pages/audit'

it('[OPERATE-158] writes no text that a spreadsheet reads as a formula, whatever separates its fields', () => {
  for (const sign of ['=', '+', '-', '@', '＝', '＋', '－', '＠'])
    for (const before of ['', ' ', '\t', '\n', 'a;', 'a; ', 'a\t', 'a|', 'a\r\n']) {
      const cells = csvField(`${before}${sign}1+1`)
        .replace(/^"|"$/g, '')
        .split(/[;\t\r\n|]/)
      for (const cell of cells) expect(cell, JSON.stringify([before, sign])).not.toMatch(/^\s*[=+\-@＝＋－＠]/)
    }
  expect(['ann', 'store-context', 'a = b', 'key=key_1', 'a "b", c'].map(csvField)).toEqual([
    ...['ann', 'store-context', 'a = b', 'key=key_1', '"a ""b"", c"'],
  ])
  expect(csvField(-5)).toBe('-5')
})
