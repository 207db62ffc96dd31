// The program of the extension for Claude Desktop: a bridge to the server that its settings name.
import { stdio } from '../src/cli/stdio.mjs'

// A setting without a value may reach a program as its placeholder.
for (const name of ['COMMONPLACE_URL', 'COMMONPLACE_KEY'])
  if (process.env[name]?.startsWith('${')) delete process.env[name]
await stdio({ url: process.env.COMMONPLACE_URL || 'http://localhost:8787' })
