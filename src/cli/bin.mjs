#!/usr/bin/env node
// Entry point of the package: starts the server without a command or with `start`, else runs a command.
const [first, ...rest] = process.argv.slice(2)
const WORDS = ['--help', '-h', '--version', '-V', '-v']
const isServing = first === undefined || first === 'start' || (first.startsWith('-') && !WORDS.includes(first))
if (isServing) {
  const { start } = await import('../../scripts/serve/start.mjs')
  process.exit(await start(first === 'start' ? rest : process.argv.slice(2)))
} else await import('./commonplace.mjs')
