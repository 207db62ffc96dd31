#!/usr/bin/env node
// The program of the package: without a command, or with `start`, the server on this machine; else the command line.
const [first, ...rest] = process.argv.slice(2)
const WORDS = ['--help', '-h', '--version', '-V', '-v']
const isServing = first === undefined || first === 'start' || (first.startsWith('-') && !WORDS.includes(first))
if (isServing) {
  const { start } = await import('../../scripts/serve/start.mjs')
  process.exit(await start(first === 'start' ? rest : process.argv.slice(2)))
} else await import('./commonplace.mjs')
