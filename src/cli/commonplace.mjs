#!/usr/bin/env node
// The command line: `npm run commonplace -- <command>`, or by the package (bin.mjs).
import { commonplace } from './command-line.mjs'

// Whoever reads the output may leave (`| head`): what a command does is done to its end all the same.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error) => {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EPIPE') throw error
  })

await commonplace(process.argv.slice(2))
