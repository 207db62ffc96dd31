#!/usr/bin/env node
// `npm run migrate:postgres -- <url>` as a separate program, which other scripts start too.
import { migrateDatabase } from './postgres/command.mjs'

process.exitCode = await migrateDatabase(process.argv.slice(2), process.env, {
  say: (line) => console.log(line),
  complain: (text) => console.error(text),
})
