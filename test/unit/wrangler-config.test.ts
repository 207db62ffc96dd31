import { readFileSync } from 'node:fs'
import { parse } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../src/config'
import { ROOT } from '../support/build'

/** Settings in wrangler.toml for this machine (the top level) and for a deployment. */
interface Place {
  readonly name: string
  readonly vars: Record<string, string>
  readonly d1_databases: { readonly database_name: string }[]
  readonly r2_buckets: { readonly bucket_name: string }[]
}
/** The part of a configuration that decides on the modules of the upload. */
interface Upload {
  readonly build: { readonly command: string; readonly watch_dir: string[] }
  readonly main: string
  readonly no_bundle: boolean
  readonly rules: { readonly type: string; readonly globs: string[] }[]
  readonly compatibility_flags: string[]
}
const { env, ...here } = parse(readFileSync(`${ROOT}wrangler.toml`, 'utf8')) as never as Place & {
  readonly env: { readonly production: Place }
}
const production = env.production

describe('wrangler.postgres.toml', () => {
  it('builds and uploads the same modules as wrangler.toml', () => {
    const uploadOf = (file: string) => {
      const { build, main, no_bundle, rules, ...rest } = parse(
        readFileSync(`${ROOT}${file}`, 'utf8'),
      ) as never as Upload
      const [command] = build.command.split(' && ').slice(-1)
      return { command, watched: build.watch_dir, main, no_bundle, rules, flags: rest.compatibility_flags }
    }
    expect(uploadOf('wrangler.postgres.toml')).toEqual(uploadOf('wrangler.toml'))
  })
})

describe('wrangler.toml', () => {
  it('gives the Worker, the database and the bucket of a deployment names that nothing of this machine has', () => {
    const names = ({ name, d1_databases, r2_buckets }: Place) => [
      name,
      ...d1_databases.map(({ database_name }) => database_name),
      ...r2_buckets.map(({ bucket_name }) => bucket_name),
    ]
    expect(names(production).filter((name) => names(here).includes(name))).toEqual([])
  })

  it('is open on this machine, requires keys in production, and refuses no write there when the model is missing', () => {
    expect(parseConfig(here.vars).authMode).toBe('open')
    const config = parseConfig(production.vars)
    expect([config.authMode, config.embedding.onFailure, config.summary, config.reranking]).toEqual([
      ...['required', 'defer', null, null],
    ])
  })
})
