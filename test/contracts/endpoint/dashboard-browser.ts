import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startCallback, violations } from '../../support/browser'
import { type House, houseOf } from '../../support/dashboard'
import { claudeCode } from '../../support/hook-events'
import { ADMIN_TOKEN, type Json } from '../../support/oauth'
import { startPlace } from '../../support/places'
import { base64, pngBytes } from '../../support/scope'
import type { RunningServer } from '../../support/server'

/** The dashboard in a real browser: accessible, usable by keyboard alone, with its script and without. */
/** Rules that the colours and the width of a page decide; the others ask for its structure. */
const RULES_OF_LOOKS = { type: 'rule', values: ['color-contrast', 'target-size', 'scrollable-region-focusable'] }

type Look = readonly ['light' | 'dark', number]

export interface Extent {
  /** Colors and widths in which every page is checked; by all rules in the first of each list, which loads the pages again. */
  readonly looks: readonly (readonly [Look, ...Look[]])[]
  /** `few`: one page of each kind is checked, and of the script only the parts that no other test covers. */
  readonly pages: 'every' | 'few'
  /** Captured sessions to work through. */
  readonly sessions: number
}

export function dashboardInBrowser(browser: () => Browser, { looks, pages, sessions }: Extent): void {
  let open: RunningServer
  let team: RunningServer
  let house: House
  let guarded: House
  let ids: number[]
  let context: BrowserContext | undefined
  /** Errors that the browser reported, including violations of the content security policy. */
  let complaints: string[] = []

  const store = (text: string, more: Json = {}, at = house, key: string | null = null): Promise<number> =>
    at
      .call(key, 'store_context', { thread_id: 'ferry', source: 'agent', text, ...more })
      .then(({ context_id }: { context_id: number }) => context_id)

  const captured = async (i: number): Promise<void> => {
    const session = claudeCode(`e${i}`)
    const events = [session.prompt(`session number ${i}`), session.edit(`${i}.ts`), session.end()]
    const place = { folder: '/home/ada/ferry', project: 'ferry', branch: 'main' }
    const body = JSON.stringify({ events: events.map((event) => ({ ...event, at: Date.now(), place })) })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    expect((await house.ask('/api/v1/hooks/claude-code', init)).status).toBe(200)
  }

  beforeAll(async () => {
    ;[open, team] = await Promise.all([startPlace(), startPlace({ AUTH_MODE: 'required', ADMIN_TOKEN })])
    house = houseOf(open)
    guarded = houseOf(team)
    await guarded.admin('POST', '/orgs', { id: 'acme', name: 'Acme' })
    const image = { data: base64(pngBytes()), mime_type: 'image/png' }
    const first = await store('We sell tickets at the quay.', {
      metadata: { kind: 'decision', title: 'Tickets at the quay', project: 'ferry', agent_name: 'claude' },
      tags: ['tickets', 'x'.repeat(120)],
      images: [image],
    })
    const second = await store(`${'A long word: '}${'w'.repeat(300)}\nand שלום 👩‍👩‍👧‍👦`, {
      metadata: { title: 'W'.repeat(90), references: { context_ids: [first] }, status: 'doing', kind: 'task' },
    })
    await house.call(null, 'update_context', { context_id: first, text: 'We sell tickets online and at the quay.' })
    ids = [first, second]
    for (let i = 0; i < sessions; i++) await captured(i)
  }, 300_000)
  afterAll(async () => {
    await Promise.all([open?.stop(), team?.stop()])
  })
  afterEach(async () => {
    await context?.close()
    context = undefined
  })

  interface Looking {
    readonly width?: number
    readonly scheme?: 'light' | 'dark'
    readonly script?: boolean
  }

  async function newPage({ width = 1280, scheme = 'light', script = true }: Looking = {}): Promise<Page> {
    await context?.close()
    complaints = []
    context = await browser().newContext({
      javaScriptEnabled: script,
      colorScheme: scheme,
      viewport: { width, height: 800 },
      reducedMotion: 'reduce',
      timezoneId: 'Asia/Tokyo',
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const page = await context.newPage()
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    return page
  }

  /** Pages for reading, searching, writing and choosing, which contain the elements of the others too. */
  const ofEachKind = () => [
    '/',
    '/search?q=tickets',
    `/entries/${ids[0]}`,
    `/entries/${ids[1]}`,
    `/entries/${ids[0]}/edit`,
  ]

  const paths = () => [
    ...ofEachKind(),
    ...['/search', '/search?q=tickets&tag=tickets&field=status&op=eq&value=x', '/threads', '/threads/ferry'],
    ...[`/entries/${ids[0]}/versions/1`, `/entries/${ids[0]}/delete`, '/pack', '/pack?goal=sell+tickets'],
    ...[`/entries/${ids[0]}/edit?view=json`, '/pack?goal=sell+tickets&other=a+long+word', '/activity?agent=claude'],
    ...['/activity', '/deleted', '/projects', '/keys', '/audit', '/backups', '/cost', '/settings'],
  ]

  describe('the dashboard in Chromium', () => {
    /** A page with its own address, or the page after a form. */
    async function eachPage(page: Page, seen: (path: string) => Promise<void>): Promise<void> {
      for (const path of [...(pages === 'every' ? paths() : ofEachKind()), '/review']) {
        await page.goto(house.base + path)
        await seen(path)
      }
      await page.goto(`${guarded.base}/entries/1`)
      await seen('the door')
      if (pages === 'few') return
      await page.goto(`${house.base}/keys`)
      await page.getByLabel('Name', { exact: true }).fill('of a test')
      await page.getByRole('button', { name: 'Create key' }).click()
      await page.getByRole('heading', { name: 'The key of of a test' }).waitFor()
      await seen('a new key')
      const exported = await (await house.visitor()).download('/settings/export', {})
      await page.goto(`${house.base}/settings`)
      const buffer = Buffer.from(await exported.arrayBuffer())
      await page.getByLabel('File').setInputFiles({ name: 'a.ndjson.gz', mimeType: 'application/gzip', buffer })
      await page.getByRole('button', { name: 'Preview' }).click()
      await page.getByRole('heading', { name: 'Import preview', level: 1 }).waitFor()
      await seen('an import')
    }

    it.each(looks.map((all) => ({ all, name: all.map((look) => look.join(', ')).join(' and ') })))(
      `has nothing that keeps anybody out: ${pages === 'every' ? 'every page' : 'a page of each kind'}, in $name pixels, and at 200 and 400 %`,
      async ({ all }) => {
        const [[first, widest]] = all
        const page = await newPage({ width: widest, scheme: first })
        await eachPage(page, async (path) => {
          // Folded content is checked too.
          await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
          for (const [j, [scheme, width]] of all.entries()) {
            await page.emulateMedia({ colorScheme: scheme })
            await page.setViewportSize({ width, height: 800 })
            expect([path, scheme, width, await violations(page, j === 0 ? undefined : RULES_OF_LOOKS)]).toEqual([
              ...[path, scheme, width, []],
            ])
            expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, width])
          }
          // Zoomed to 400 and 200 %, 1,280 pixels are 320 and 640 of the page (WCAG 1.4.10); letters alone may be twice as large (1.4.4).
          for (const width of [320, 640]) {
            await page.setViewportSize({ width, height: 400 })
            expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, width])
          }
          await page.evaluate("document.documentElement.style.fontSize = '200%'")
          expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, 640])
        })
        expect([first, complaints.filter((one) => !one.includes('401'))]).toEqual([first, []])
      },
    )

    it('shows every column of a table next to a name of 150 letters, and breaks no word of a table that is stored', async () => {
      const id = await store(`| col | words |\n|---|---|\n| 1 | ${'wide '.repeat(60)}|`, {
        metadata: { project: 'p'.repeat(150) },
      })
      const page = await newPage()
      await page.goto(`${house.base}/projects`)
      expect(
        await page.evaluate(
          "document.querySelector('.scroll').scrollWidth - document.querySelector('.scroll').clientWidth",
        ),
      ).toBe(0)
      const lines = (selector: string) =>
        page.evaluate(`getComputedStyle(document.querySelector('${selector}')).textDecorationLine`)
      expect(await lines('.scroll a bdi')).toBe(await lines('.scroll a:has(bdi)'))
      await page.setViewportSize({ width: 320, height: 800 })
      await page.goto(`${house.base}/entries/${id}`)
      expect(await page.evaluate("document.querySelector('.prose td').getClientRects()[0].height")).toBeLessThan(40)
    })

    it('finds, opens, edits, deletes and restores a memory by keyboard alone, without its script', async () => {
      const id = await store('Lanterns are lit at dusk.', { tags: ['lanterns'] })
      const page = await newPage({ script: false, width: 320 })
      await page.goto(`${house.base}/search`)
      const press = async (...keys: string[]) => {
        for (const key of keys) await page.keyboard.press(key)
      }
      /** Tabs on until that has the focus. */
      const tabTo = async (name: string) => {
        for (let i = 0; i < 60; i++) {
          await press('Tab')
          const focused = await page.evaluate(
            "(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent ?? '').trim()",
          )
          const labelled = await page.evaluate("document.activeElement.labels?.[0]?.textContent ?? ''")
          if (focused === name || labelled === name) return
        }
        throw new Error(`The keyboard did not reach ${name}`)
      }
      await press('Tab')
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content')
      await press('Enter')
      await tabTo('Search memories')
      await page.keyboard.type('lanterns')
      await press('Enter')
      await page.waitForURL('**/search?q=lanterns**')
      await tabTo('Lanterns are lit at dusk.')
      expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid')
      await press('Enter')
      await page.waitForURL(`**/entries/${id}`)
      await tabTo('Edit')
      await press('Enter')
      await page.waitForURL('**/edit')
      await tabTo('Text')
      await press('Control+End')
      await page.keyboard.type(' Not on Sundays.')
      await tabTo('Store')
      await press('Enter')
      await page.waitForURL(`**/entries/${id}?done=changed*`)
      expect(await page.locator('article .prose').textContent()).toBe('Lanterns are lit at dusk. Not on Sundays.')
      await tabTo('Delete')
      await press('Enter')
      await page.waitForURL('**/delete')
      await tabTo('Delete')
      await press('Enter')
      await page.waitForURL(`**/entries/${id}?change=*`)
      await tabTo('Undo')
      await press('Enter')
      await page.waitForURL(`**/entries/${id}?done=restored`)
      expect(complaints).toEqual([])
    })

    it(`works through ${sessions} captured sessions by keyboard alone, each step undone exactly and repeated`, async () => {
      const page = await newPage()
      const visitor = await house.visitor()
      const loaded = (step: () => Promise<void>) => Promise.all([page.waitForEvent('load'), step()])
      const press = (key: string) => loaded(() => page.keyboard.press(key))
      const idHere = async () => Number(await page.locator('main input[name=id]').first().inputValue())
      /** The state of a session: everything except its version and its start, and the number of its links. */
      const stateOf = async (id: number) => {
        const { result } = await house.call(null, 'get_context_by_ids', { context_ids: [id] })
        const { version = 0, updated_at: _, ...entry } = result[0] ?? {}
        const { text } = await visitor.get(`/entries/${id}`)
        return { version, same: { entry, links: /<h2>(\d+) links?</.exec(text)?.[1] ?? '0' } }
      }
      const keepAs = (digit: string) => async () => {
        await page.keyboard.press(digit)
        await press('a')
      }
      /** Opened by m, which puts the focus on the first of the others: Space chooses it, Enter sends the form. */
      const merge = async () => {
        await page.keyboard.press('m')
        expect(await page.evaluate("document.activeElement.closest('details')?.open")).toBe(true)
        if ((await page.evaluate('document.activeElement.type')) === 'checkbox') await page.keyboard.press('Space')
        await press('Enter')
      }
      const steps = [
        ['keep', keepAs('2'), 'decision'],
        ['drop', () => press('d'), null],
        ['merge', merge, 'note'],
        ['keep', keepAs('4'), 'gotcha'],
      ] as const
      await page.goto(`${house.base}/review`)
      const before = Number(
        /(\d+)( or more)? sessions to review/.exec((await page.locator('main').textContent()) ?? '')?.[1],
      )
      expect(before).toBe(Math.min(50, sessions))
      let done = 0
      for (let i = 0; (await page.locator('main input[name=id]').count()) > 0; i++) {
        const id = await idHere()
        const was = await stateOf(id)
        const [name, step, kind] = steps[i % steps.length] ?? steps[0]
        await step()
        expect([i, new URL(page.url()).searchParams.get('done')]).toEqual([i, name])
        expect([i, (await stateOf(id)).same]).not.toEqual([i, was.same])
        await press('u')
        const back = await stateOf(id)
        expect([i, await idHere(), back.same]).toEqual([i, id, was.same])
        expect(back.version).toBeGreaterThan(was.version)
        await step()
        const made = new URL(page.url()).searchParams.get('made')
        if (kind !== null) {
          const { result } = await house.call(null, 'get_context_by_ids', { context_ids: [Number(made)] })
          expect([i, result[0]?.metadata.kind]).toEqual([i, kind])
        }
        done++
      }
      // A merge includes the next session too.
      expect(done).toBeGreaterThanOrEqual(Math.floor((sessions * 4) / 5))
      await page.getByText('No sessions to review').waitFor()
      const undone = Math.min(20, done)
      for (let i = 0; i < undone; i++) await press('u')
      expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0)
      expect(await page.locator('main').textContent()).toMatch(/\d+ sessions to review/)
      const first = await idHere()
      await press('l')
      expect(await idHere()).not.toBe(first)
      expect(complaints).toEqual([])
    })

    it('lets a person in with a key, by keyboard, and out again', async () => {
      const { key } = await guarded.key({ role: 'writer', agent: 'ann' })
      const id = await store('behind the door', {}, guarded, key)
      const page = await newPage({ script: false })
      await page.goto(`${guarded.base}/entries/${id}`)
      await page.keyboard.type('cp_wrong')
      await page.keyboard.press('Enter')
      expect(await page.getByRole('alert').textContent()).toMatch(/^This key is not valid/)
      await page.keyboard.type(key)
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/entries/${id}`)
      expect(await page.locator('h1').textContent()).toBe('behind the door')
      const [cookie] = (await context?.cookies(guarded.base)) ?? []
      expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' })
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.waitForURL('**/login')
      const left = (await context?.cookies(guarded.base)) ?? []
      expect(left.filter(({ name }) => !name.includes('consent'))).toEqual([])
    })

    it('is shown in no frame of another site', async () => {
      const callback = await startCallback()
      try {
        const page = await newPage()
        await page.goto(`${callback.origin}/?frame=${encodeURIComponent(`${house.base}/`)}`)
        expect(await page.frames()[1]?.locator('nav').count()).toBe(0)
        expect(complaints.join('\n')).toMatch(/frame/i)
      } finally {
        await callback.stop()
      }
    })

    if (pages === 'few') return

    it('moves nothing when reduced motion is requested', async () => {
      const page = await newPage()
      await page.goto(`${house.base}/activity`)
      await page.getByText('Live: new changes appear here').waitFor()
      await store('without motion', { thread_id: 'still' })
      await page.locator('.changes li').first().getByText('without motion').waitFor()
      expect(await page.evaluate('document.getAnimations().length')).toBe(0)
      expect(await page.evaluate('getComputedStyle(document.documentElement).scrollBehavior')).toBe('auto')
      const moving =
        "[...document.querySelectorAll('*')].filter((one) => getComputedStyle(one).transitionDuration !== '0s').length"
      expect(await page.evaluate(moving)).toBe(0)
    })

    it('opens for a person who follows a link of another site, who has a session', async () => {
      const { key } = await guarded.key({ role: 'reader' })
      const callback = await startCallback()
      try {
        const page = await newPage()
        await page.goto(`${guarded.base}/login`)
        await page.getByLabel('Your Commonplace key').fill(key)
        await page.keyboard.press('Enter')
        await page.waitForURL(`${guarded.base}/`)
        await page.goto(callback.origin)
        await page.evaluate(`location.href = ${JSON.stringify(`${guarded.base}/threads`)}`)
        await page.getByRole('heading', { name: 'Threads', level: 1 }).waitFor()
      } finally {
        await callback.stop()
      }
    })

    it('adds by its script what makes it quicker: changes as they come, copies, more conditions, times of here', async () => {
      const page = await newPage()
      await page.goto(`${house.base}/activity`)
      await page.getByText('Live: new changes appear here').waitFor()
      const text = '<b>seen</b> at once'
      await store(text, { thread_id: 'live' })
      const newest = page.locator('.changes li').first()
      await newest.getByText(text).waitFor()
      expect(await newest.locator('b').count()).toBe(0)
      await page.goto(`${house.base}/pack?goal=sell+tickets`)
      await page.getByText('As the agent reads it').click()
      await page.getByRole('button', { name: 'Copy' }).click()
      expect(await page.evaluate('navigator.clipboard.readText()')).toContain('# Context pack')
      await page.goto(`${house.base}/search`)
      await page.locator('summary', { hasText: 'Filters' }).click()
      await page.getByRole('button', { name: 'Add a condition' }).click()
      expect(await page.locator('.conditions > div').count()).toBe(2)
      await page.goto(`${house.base}/threads`)
      expect(await page.locator('main time').first().getAttribute('title')).toContain('GMT+9')
      expect(complaints).toEqual([])
    })

    it('searches from every page by one key, and lets single keys be switched off', async () => {
      const page = await newPage()
      const focused = () => page.evaluate('document.activeElement.name ?? null')
      await page.goto(`${house.base}/threads`)
      await page.keyboard.press('/')
      expect(await focused()).toBe('q')
      await page.goto(`${house.base}/help`)
      await page.getByRole('button', { name: 'Switch off' }).click()
      await page.getByRole('button', { name: 'Switch on' }).waitFor()
      await page.goto(`${house.base}/threads`)
      await page.keyboard.press('/')
      expect(await focused()).not.toBe('q')
      await page.goto(`${house.base}/review`)
      const before = page.url()
      await page.keyboard.press('l')
      expect(page.url()).toBe(before)
      expect(complaints).toEqual([])
    })
  })
}
