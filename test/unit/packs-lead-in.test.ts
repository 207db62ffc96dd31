import { expect, it } from 'vitest'
import { withoutLeadIn } from '../../src/domain/pack/lead-in'
import { createAnalyzer } from '../../src/domain/search/analysis'

const analyzer = createAnalyzer('english')

it.each([
  ['Please help me with this: rotate the signing keys', 'rotate the signing keys'],
  ['I am about to start on the following task, give me all that is relevant: rotate the keys', 'rotate the keys'],
  ['Task: rotate the signing keys', 'rotate the signing keys'],
  ['Could you please help me to rotate the signing keys?', 'rotate the signing keys?'],
  ["Hi, I'd like to rotate the signing keys", 'rotate the signing keys'],
  ['As a senior engineer in our team, rotate the signing keys', 'rotate the signing keys'],
  ['You are a careful reviewer. I want you to check the signing keys', 'check the signing keys'],
  ['What do we know about signing keys?', 'signing keys?'],
  ['Hilf mir bitte dabei: Schlüssel tauschen', 'Schlüssel tauschen'],
  ['Kannst du mir bitte helfen, Schlüssel zu tauschen', 'Schlüssel zu tauschen'],
  ['Peux-tu m’aider à changer les clés de signature', 'changer les clés de signature'],
  ['Necesito cambiar las claves de firma', 'cambiar las claves de firma'],
])('searches "%s" as "%s"', (goal, rest) => {
  expect(withoutLeadIn(goal, analyzer)).toBe(rest)
})

it.each([
  'signing keys: rotate them',
  'TypeError: signing keys are undefined',
  'rotate the signing keys. As a reviewer, please help me',
  'please help me',
  'Task: what is next?',
  'help pages are out of date',
  'so-called signing keys',
])('leaves "%s" as it is', (goal) => {
  expect(withoutLeadIn(goal, analyzer)).toBe(goal)
})
