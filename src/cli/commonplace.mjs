#!/usr/bin/env node
// The command line: `npm run commonplace -- <command>`, or through the package (bin.mjs).
import { commonplace } from './command-line.mjs'

// The reader of the output may exit (`| head`); the command still finishes.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error) => {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EPIPE') throw error
  })

await commonplace(process.argv.slice(2))
