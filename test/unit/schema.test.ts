import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { d1Schema, writtenSchema } from '../../scripts/schema.mjs'

const names = (folder: string) => readdirSync(`migrations/${folder}`).sort()

it('finds in migrations/schema.d1.sql what the migrations of D1 make', async () => {
  expect(await d1Schema(), 'npm run schema').toBe(writtenSchema('d1'))
})

it('makes each object of the schema once', async () => {
  const made = [...(await d1Schema()).matchAll(/^CREATE [A-Z ]*?(?:TABLE|INDEX|TRIGGER|VIEW) (\w+)/gm)]
  const objects = made.map(([, name]) => name)
  expect(objects.length).toBeGreaterThan(150)
  expect(new Set(objects).size).toBe(objects.length)
})

it('bundles every migration of D1 in order, each with a twin of the same name for PostgreSQL', () => {
  const listed = readFileSync('src/migrations.ts', 'utf8').matchAll(/\{ name: '(\S+)', sql: \w+ \}/g)
  expect([...listed].map(([, name]) => name)).toEqual(names('d1'))
  expect(names('postgres')).toEqual(names('d1'))
})
