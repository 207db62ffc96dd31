import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { OWN_SKILL } from '../../src/tools/skills/own-skill'
import { ROOT } from '../support/build'

it('[PLATFORM-102] serves the skill that the plugins install', () => {
  for (const plugin of ['commonplace', 'agent-plugin']) {
    const path = join(ROOT, `plugins/${plugin}/skills/memory/SKILL.md`)
    expect(OWN_SKILL.text).toBe(readFileSync(path, 'utf8'))
  }
  expect(OWN_SKILL.text).toContain(`name: ${OWN_SKILL.name}\ndescription: ${OWN_SKILL.description}\n`)
})
