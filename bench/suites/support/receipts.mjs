// One line a question: what was asked, what would have answered it, what came. So that a figure can be looked into, and two runs paired.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * @typedef {object} Receipt
 * @property {string} case
 * @property {string} kind
 * @property {string} leg
 * @property {readonly string[]} wanted
 * @property {readonly string[]} got the first 20, best first
 * @property {Record<string, number>} scores
 */

/** @param {string} file @param {readonly object[]} receipts */
export function writeReceipts(file, receipts) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, receipts.map((receipt) => `${JSON.stringify(receipt)}\n`).join(''))
}

/** @param {string} file @returns {Receipt[]} */
export const readReceipts = (file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
