import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { d1Schema, writtenSchema } from '../../scripts/schema.mjs'

const names = (folder: string) => readdirSync(`migrations/${folder}`).sort()

it('finds in migrations/schema.d1.sql what the migrations of D1 make', async () => {
  expect(await d1Schema(), 'npm run schema').toBe(writtenSchema('d1'))
})

it.each(['d1', 'postgres'])('writes each object of the baseline of %s once, in its final form', (folder) => {
  const baseline = names(folder).filter((name) => name < '0010')
  const text = baseline.map((name) => readFileSync(`migrations/${folder}/${name}`, 'utf8')).join('\n')
  const made = [...text.matchAll(/^CREATE [A-Z ]*?(TABLE|INDEX|TRIGGER|VIEW|FUNCTION) (\w+)/gm)]
  const objects = made.map(([, kind, name]) => `${kind} ${name}`)
  expect(objects.length).toBeGreaterThan(150)
  expect(new Set(objects).size).toBe(objects.length)
  expect(text).not.toMatch(/^(?:DROP|CREATE OR REPLACE|ALTER TABLE \w+\s+(?:ADD|DROP|RENAME))/m)
})

it('bundles every migration of D1 in order, each with a twin of the same name for PostgreSQL', () => {
  const listed = readFileSync('src/composition/migrations.ts', 'utf8').matchAll(/\{ name: '(\S+)', sql: \w+ \}/g)
  expect([...listed].map(([, name]) => name)).toEqual(names('d1'))
  expect(names('postgres')).toEqual(names('d1'))
})
