#!/usr/bin/env node
// The command line: `npm run commonplace -- <command>`, or by the package (bin.mjs).
import { commonplace } from './command-line.mjs'

await commonplace(process.argv.slice(2))
