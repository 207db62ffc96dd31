import type { Browser, Frame, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Team } from '../../support/access'
import { openHost } from '../../support/app-host'
import { violations } from '../../support/browser'
import { claudeCode, PLACE } from '../../support/hook-events'
import { sharedTeam, unique } from './session'

/** Folder of screenshots for a person to inspect; none without it. */
const PICTURES = process.env.APP_PICTURES
const STEPS = Array.from({ length: 40 }, (_, i) => `${i + 1}. Retry refund ${i} with the key of its first call.`)
const LONG = `To make a refund safe to retry, send one key.\n\n${STEPS.join('\n')}\nEND`
const LOOKS = [
  ['light', 390],
  ['light', 1000],
  ['dark', 390],
  ['dark', 1000],
] as const

/** The MCP Apps in a host of ext-apps, in Chromium (core contract, CORE-77 and CORE-78). */
export function appsInBrowser(browser: () => Browser): void {
  describe('MCP Apps in Chromium', () => {
    let team: Team
    let key: string
    let page: Page
    /** Errors that the browser reported, including violations of the content security policy. */
    let complaints: string[]
    beforeAll(async () => {
      team = await sharedTeam()
    })
    const storeRefunds = async (): Promise<void> => {
      for (const [title, kind, content] of [
        ['Refunds use an idempotency key', 'decision', LONG],
        [
          'Never retry a refund after 24 hours',
          'rule',
          'The provider forgets keys of refunds after a day. <b>Bold</b>',
        ],
        ['Refund webhooks arrive twice', 'gotcha', 'The provider sends each refund webhook twice.'],
      ] as const)
        await team.call(key, 'remember', { title, kind, content, project: 'github.com/acme/ferry' })
    }
    beforeEach(async () => {
      key = (await team.key(unique('org'), { owner: 'ada' })).key
      complaints = []
      page = await browser().newPage({ viewport: { width: 390, height: 800 } })
      // The bridge logs each message at another level.
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
      page.on('pageerror', (error) => complaints.push(error.message))
      await openHost(page, team.server.url.origin)
    })
    afterEach(async () => {
      await page.close()
      expect(complaints).toEqual([])
    })
    afterAll(() => page?.close())

    const openApp = async (tool: string, args: object = {}, options: object = {}): Promise<Frame> => {
      await page.evaluate(`openApp(${[key, tool, args, options].map((one) => JSON.stringify(one)).join(', ')})`)
      const frame = page.frames()[1]
      if (frame === undefined) throw new Error('the host shows the app')
      return frame
    }
    const openedLinks = async (): Promise<string[]> => {
      await page.waitForFunction('opened.length > 0')
      return page.evaluate('opened')
    }
    const capture = async (prompt: string, place: object = PLACE): Promise<void> => {
      const s = claudeCode(unique('s'))
      const events = [s.prompt(prompt), s.edit('a.ts'), s.end()].map((event) => ({
        ...event,
        at: Date.now(),
        place,
      }))
      expect((await team.api('/hooks/claude-code', key, 'POST', { events })).status).toBe(200)
    }
    const waiting = async (): Promise<string[]> =>
      (await team.api('/orgs/-/captured', key)).body.items.map(({ title }: { title: string }) => title)
    /** Checks an app in each theme and width. */
    async function looksRight(name: string, tool: string, args: object): Promise<void> {
      for (const [theme, width] of LOOKS) {
        await page.setViewportSize({ width, height: 800 })
        const frame = await openApp(tool, args, { theme })
        await frame.getByRole('button', { name: 'Read all' }).first().waitFor()
        expect(await frame.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe(theme)
        expect(await frame.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
        // The frame is as high as the app.
        await expect
          .poll(() => frame.evaluate('document.documentElement.scrollHeight - innerHeight'))
          .toBeLessThanOrEqual(0)
        expect([theme, width, await violations(frame)]).toEqual([theme, width, []])
        if (PICTURES !== undefined)
          await page.screenshot({ path: `${PICTURES}/${name}-${theme}-${width}.png`, fullPage: true })
      }
    }

    const GOAL = { goal: 'make refunds safe to retry', project: 'github.com/acme/ferry' }

    it('[CORE-77] shows a pack with its reasons, and fetches a complete memory by keyboard', async () => {
      await storeRefunds()
      const frame = await openApp('context', { ...GOAL, max_tokens: 700 })
      await frame.getByRole('heading', { name: GOAL.goal }).waitFor()
      const card = frame.getByRole('article').filter({ hasText: 'Refunds use an idempotency key' })
      expect(await card.textContent()).toMatch(/decision.*Why: /)
      expect(await card.textContent()).not.toContain('END')
      const read = card.getByRole('button', { name: 'Read all' })
      await read.focus()
      await page.keyboard.press('Enter')
      await card.getByText('END').waitFor()
      expect(await card.getByRole('button', { name: 'Read less' }).getAttribute('aria-expanded')).toBe('true')
      await card.getByRole('link', { name: 'Open on the dashboard' }).click()
      const [opened] = await openedLinks()
      expect(opened).toMatch(new RegExp(`^${team.server.url.origin}/entries/\\d+$`))
      expect((await team.ask(new URL(opened as string).pathname, key)).text).toContain('Refunds use an idempotency key')
    })

    it('[CORE-77] states how many memories were left out, and shows them', async () => {
      await storeRefunds()
      const frame = await openApp('context', { ...GOAL, limit: 1 })
      await frame.getByText(/^\d+ more fit the goal\./).waitFor()
      expect(await frame.getByRole('article').count()).toBe(1)
      await frame.getByRole('button', { name: 'Show more' }).click()
      await expect.poll(() => frame.getByRole('article').count()).toBeGreaterThan(1)
    })

    it('[CORE-77] shows where the owner left off and the open work at the start of a session', async () => {
      await storeRefunds()
      await capture('grease the winch', { folder: PLACE.folder, remote: PLACE.remote })
      const frame = await openApp('context', { project: GOAL.project })
      await frame.getByRole('heading', { name: 'Start of a session' }).waitFor()
      await frame.getByRole('article', { name: 'Newest session' }).getByText('Files: a.ts').waitFor()
      await frame
        .getByRole('article', { name: 'Never retry a refund after 24 hours' })
        .getByText('<b>Bold</b>')
        .waitFor()
      if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/start.png`, fullPage: true })
    })

    it('[CORE-77] is readable in light and dark, at 390 and 1,000 pixels', async () => {
      await storeRefunds()
      await looksRight('pack', 'context', { ...GOAL, limit: 2, max_tokens: 600 })
    })

    it('[CORE-78] approves a ticked session after a yes in the dialog of the host, and drops one', async () => {
      await capture('light the harbour')
      await capture('paint the gate')
      const frame = await openApp('review')
      const gate = frame.getByRole('article', { name: 'paint the gate' })
      await gate.getByRole('button', { name: 'Read all' }).click()
      await gate.getByText('Claude Code in github.com/acme/ferry').waitFor()
      await frame.getByRole('button', { name: 'Approve ticked' }).click()
      await frame.getByText('Tick at least one session.').waitFor()
      await frame.getByRole('checkbox', { name: 'paint the gate' }).focus()
      await page.keyboard.press('Space')
      await frame.getByRole('button', { name: 'Approve ticked' }).click()
      await page.getByText(/^Approve 1 captured session\? .*“paint the gate”/).waitFor()
      expect(await waiting()).toEqual(['paint the gate', 'light the harbour'])
      await page.getByRole('button', { name: 'No' }).click()
      await frame.getByText('The person declined; nothing was changed').waitFor()
      expect(await waiting()).toHaveLength(2)
      await frame.getByRole('button', { name: 'Approve ticked' }).click()
      await page.getByRole('button', { name: 'Yes' }).click()
      await frame.getByText('Approved 1 session.').waitFor()
      expect(await waiting()).toEqual(['light the harbour'])
      await frame.getByRole('button', { name: 'Tick all' }).click()
      await frame.getByRole('button', { name: 'Drop ticked' }).click()
      await page.getByRole('button', { name: 'Yes' }).click()
      await frame.getByText('No captured sessions await review.').waitFor()
      await frame.getByRole('link', { name: 'Undo on the dashboard' }).click()
      expect(await openedLinks()).toEqual([expect.stringMatching(/\/review\?change=./)])
      expect(await waiting()).toEqual([])
    })

    it('[CORE-78] names the dashboard where the host cannot ask, and changes nothing', async () => {
      await capture('repair the crane')
      const frame = await openApp('review', {}, { asks: false })
      await frame.getByRole('checkbox', { name: 'repair the crane' }).check()
      await frame.getByRole('button', { name: 'Approve ticked' }).click()
      await frame.getByText(`Open ${team.server.url.origin}/review`).waitFor()
      expect(await waiting()).toContain('repair the crane')
    })

    it('[CORE-78] is readable in light and dark, at 390 and 1,000 pixels', async () => {
      for (const prompt of ['grease the winch of the second crane', 'count the lamps at the eastern pier'])
        await capture(prompt)
      await looksRight('review', 'review', {})
    })
  })
}
