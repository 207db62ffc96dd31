import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const names = (folder: string) => readdirSync(`migrations/${folder}`).sort()
const initial = (folder: string) => readFileSync(`migrations/${folder}/0001_initial.sql`, 'utf8')
const OBJECT = /^CREATE [A-Z ]*?(TABLE|INDEX|TRIGGER|VIEW|FUNCTION) (\w+)/gm

it.each(['d1', 'postgres'])('creates each object of the schema of %s once, in its final form', (folder) => {
  const objects = [...initial(folder).matchAll(OBJECT)].map(([, kind, name]) => `${kind} ${name}`)
  expect(objects.length).toBeGreaterThan(150)
  expect(new Set(objects).size).toBe(objects.length)
  expect(initial(folder)).not.toMatch(/^(?:DROP|CREATE OR REPLACE|ALTER TABLE \w+\s+(?:ADD|DROP|RENAME))/m)
})

it.each(['d1', 'postgres'])('names the indexes and triggers of %s after their tables', (folder) => {
  const owned = initial(folder).matchAll(/^CREATE (?:UNIQUE )?(INDEX|TRIGGER) (\w+)(?:(?! ON )[\s\S])*? ON (\w+)/gm)
  const wrong = [...owned].filter(
    ([, kind, name = '', table]) => !name.startsWith(`${table}_`) || (kind === 'INDEX') !== name.endsWith('_idx'),
  )
  expect(wrong.map(([, , name]) => name)).toEqual([])
})

it('bundles every migration of D1 in order, each with a twin of the same name for PostgreSQL', () => {
  const listed = readFileSync('src/composition/migrations.ts', 'utf8').matchAll(/\{ name: '(\S+)', sql: \w+ \}/g)
  expect([...listed].map(([, name]) => name)).toEqual(names('d1'))
  expect(names('postgres')).toEqual(names('d1'))
})
