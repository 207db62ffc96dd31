import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { violations } from '../../support/browser'
import { type House, houseOf } from '../../support/dashboard'
import { claudeCode } from '../../support/hook-events'
import type { Json } from '../../support/oauth'
import { startPlace } from '../../support/places'
import type { RunningServer } from '../../support/server'

const WIDTHS = [1280, 390]

/** A captured session of Claude Code, as its hooks send it. */
const capturedSession = () => {
  const session = claudeCode('first')
  const place = { folder: '/home/ada/harbor', project: 'harbor-web', branch: 'main' }
  const events = [session.prompt('paint the buoys'), session.edit('buoys.ts'), session.end()]
  const body = JSON.stringify({ events: events.map((event) => ({ ...event, at: Date.now(), place })) })
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body }
}

/** Navigation, the command palette and keys in lists, in a real browser and at the widths of a desk and a phone. */
export function dashboardKeysInBrowser(browser: () => Browser): void {
  let server: RunningServer
  let house: House
  let context: BrowserContext | undefined
  let complaints: string[] = []
  const ids: number[] = []

  const store = (text: string, more: Json = {}): Promise<number> =>
    house
      .call(null, 'store_context', { thread_id: 'harbor', source: 'agent', text, ...more })
      .then(({ context_id }: { context_id: number }) => context_id)

  beforeAll(async () => {
    server = await startPlace()
    house = houseOf(server)
    for (const name of ['Anchors', 'Buoys', 'Cranes'])
      ids.push(await store(`${name} are painted in spring.`, { metadata: { title: name, project: 'harbor-web' } }))
  }, 300_000)
  afterAll(() => server?.stop())
  afterEach(async () => {
    await context?.close()
    context = undefined
  })

  async function open(
    path: string,
    { width = 1280, script = true, at = house, scheme = 'light' as 'light' | 'dark' } = {},
  ): Promise<Page> {
    await context?.close()
    complaints = []
    context = await browser().newContext({
      javaScriptEnabled: script,
      viewport: { width, height: 844 },
      colorScheme: scheme,
      reducedMotion: 'reduce',
    })
    const page = await context.newPage()
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.goto(at.base + path)
    return page
  }
  const focused = (page: Page): Promise<string> =>
    page.evaluate("(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent).trim()")

  describe('the frame of the dashboard', () => {
    it('[OPERATE-130] shows every page in the menu of a phone, without script', async () => {
      const page = await open('/threads', { width: 390, script: false })
      const names = ['Overview', 'Search', 'Threads', 'Pack', 'Activity', 'Usage', 'Review', 'Outdated?']
      const link = (name: string) => page.getByRole('link', { name, exact: true })
      expect(await link('Keys').isVisible()).toBe(false)
      expect(await page.getByLabel('Search everything').isVisible()).toBe(true)
      await page.getByRole('button', { name: 'Menu' }).click()
      for (const name of [...names, 'Projects', 'Keys', 'Audit log', 'Settings', 'Help']) {
        const box = await link(name).boundingBox()
        expect([name, box !== null && box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 844]).toEqual([
          name,
          true,
        ])
      }
      await page.keyboard.press('Escape')
      expect(await link('Keys').isVisible()).toBe(false)
    })

    it.each(WIDTHS)('[OPERATE-131] changes its colors at once, and keeps them, at %i pixels', async (width) => {
      const page = await open('/threads', { width })
      const paper = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
      const light = await paper()
      if (width === 390) await page.getByRole('button', { name: 'Menu' }).click()
      await page.getByRole('button', { name: 'Dark colors' }).click()
      const dark = await paper()
      expect(dark).not.toBe(light)
      await page.goto(`${house.base}/activity`)
      expect([await paper(), complaints]).toEqual([dark, []])
    })

    it('[OPERATE-131] changes its colors by a form, without script', async () => {
      const page = await open('/threads?begins=a', { script: false })
      const paper = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
      const light = await paper()
      await page.getByRole('button', { name: 'Dark colors' }).click()
      expect(page.url()).toBe(`${house.base}/threads?begins=a`)
      expect(await paper()).not.toBe(light)
    })

    it('[OPERATE-132] reaches the first result of a search with three Tabs', async () => {
      const page = await open('/search?q=painted+in+spring', { script: false })
      for (const key of ['Tab', 'Tab', 'Enter', 'Tab']) await page.keyboard.press(key)
      expect(await page.evaluate("document.activeElement.matches('#list li:first-child .title a')")).toBe(true)
    })
  })

  it('shows new changes on the activity page in open mode, as they happen', async () => {
    const page = await open('/activity')
    await page.getByText('Live: new changes appear here').waitFor()
    const id = await store('The lighthouse was cleaned.', { thread_id: 'light' })
    await page.locator('.changes li').first().getByText('The lighthouse was cleaned.').waitFor()
    await house.call(null, 'delete_context', { context_ids: [id] })
    await page.locator('.changes li.deleted').first().waitFor()
    expect(complaints).toEqual([])
  })

  describe('the command palette', () => {
    it.each(WIDTHS)('[OPERATE-133] finds pages, memories, threads and projects at %i pixels', async (width) => {
      const page = await open('/threads', { width })
      const option = (name: string) => page.getByRole('option', { name })
      const opened = async (text: string, name: string, url: string) => {
        await page.keyboard.press('Control+k')
        await page.keyboard.type(text)
        await option(name).waitFor()
        while ((await option(name).getAttribute('aria-selected')) !== 'true') await page.keyboard.press('ArrowDown')
        await page.keyboard.press('Enter')
        await page.waitForURL(house.base + url)
      }
      await opened('audit', 'Audit log Page', '/audit')
      await opened('buoy', 'Buoys note', `/entries/${ids[1]}`)
      await opened('harb', 'harbor Thread', '/threads/harbor')
      await opened('harb', 'harbor-web Project', '/search?project=harbor-web')
      await page.keyboard.press('Control+k')
      await page.keyboard.press('Escape')
      expect(await page.getByRole('dialog').count()).toBe(0)
      expect(complaints).toEqual([])
    })

    it('[OPERATE-133] runs actions', async () => {
      const page = await open('/threads')
      await page.keyboard.press('Control+k')
      await page.keyboard.type('dark')
      await page.keyboard.press('Enter')
      expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
    })
  })

  describe('search', () => {
    it('[OPERATE-135] asks nothing before the third character', async () => {
      const page = await open('/search')
      const asked: string[] = []
      page.on('request', (request) => asked.push(request.url()))
      const field = page.getByLabel('Search memories')
      await field.pressSequentially('bu')
      await field.press('End')
      await field.pressSequentially('oys')
      await page.locator('#list .title', { hasText: 'Buoys' }).waitFor()
      expect(asked.filter((url) => url.includes('live=1')).map((url) => new URL(url).searchParams.get('q'))).toEqual([
        'buoys',
      ])
    })

    it.each(WIDTHS)('[OPERATE-135] shows results while a person types, at %i pixels', async (width) => {
      const page = await open('/search', { width })
      const field = page.getByLabel('Search memories')
      const asked: string[] = []
      page.on('request', (request) => asked.push(request.url()))
      await field.pressSequentially('bu')
      await field.pressSequentially('o')
      await page
        .locator('#list mark', { hasText: 'Buoy' })
        .or(page.locator('#list .title', { hasText: 'Buoys' }))
        .first()
        .waitFor()
      expect(asked.filter((url) => url.includes('live=1'))).toHaveLength(1)
      expect(new URL(page.url()).searchParams.get('q')).toBe('buo')
      expect(await page.locator('#list > li').count()).toBe(1)
      await page.keyboard.press('Enter')
      await page.waitForURL((url) => !url.search.includes('live'))
      expect(complaints).toEqual([])
    })

    it('[OPERATE-136] names the filters in use, removes one, and needs no script for it', async () => {
      const page = await open('/search?q=painted&kind=decision&project=harbor-web', { script: false })
      const chips = page.getByRole('list', { name: 'Filters in use' })
      expect(await chips.getByRole('listitem').count()).toBe(2)
      await page.getByRole('link', { name: 'Remove the filter kind decision' }).click()
      expect(new URL(page.url()).search).toBe('?q=painted&project=harbor-web')
      expect(await page.locator('#list > li').count()).toBe(3)
    })

    it('[OPERATE-136] suggests names of filters, and keeps a view in the browser', async () => {
      const page = await open('/search?q=painted')
      await page.locator('summary', { hasText: 'Filters' }).click()
      await page.getByLabel('Project').focus()
      await page.locator('datalist option[value=harbor-web]').waitFor({ state: 'attached' })
      await page.getByRole('button', { name: 'Save view' }).click()
      await page.goto(`${house.base}/search`)
      await page.getByRole('list', { name: 'Saved views' }).getByRole('link', { name: 'painted' }).click()
      await page.waitForURL('**/search?q=painted**')
      await page.getByRole('button', { name: 'Remove the view painted' }).click()
      expect(await page.getByRole('list', { name: 'Saved views' }).isVisible()).toBe(false)
      expect(complaints).toEqual([])
    })

    it.each(WIDTHS)('[OPERATE-136] keeps each condition on metadata with its value, at %i pixels', async (width) => {
      const page = await open('/search?q=painted&field=title&op=exists&value=&field=project&op=eq&value=harbor-web', {
        width,
      })
      const chips = page.getByRole('list', { name: 'Filters in use' }).getByRole('listitem')
      const named = ['title is there', 'project is harbor-web']
      const texts = async () =>
        (await chips.allInnerTexts()).map((text) => text.replace(/\s*×$/, '').replaceAll(/\s+/g, ' '))
      expect(await texts()).toEqual(named)
      await page.getByRole('button', { name: 'Search', exact: true }).click()
      await page.waitForURL((url) => !url.search.includes('op=eq&value=&'))
      expect(new URL(page.url()).search).toBe(
        '?q=painted&field=title&op=exists&value=&field=project&op=eq&value=harbor-web',
      )
      expect(await texts()).toEqual(named)
      await page.getByRole('link', { name: 'Remove the filter title is there' }).click()
      await page.waitForURL((url) => !url.search.includes('title'))
      expect(await texts()).toEqual(['project is harbor-web'])
      expect(await page.locator('#list > li').count()).toBe(3)
    })

    it.each(WIDTHS)('[OPERATE-136] names the filters in use where nothing matches, at %i pixels', async (width) => {
      const page = await open('/search?q=painted&kind=gotcha&project=harbor-web', { width, script: false })
      await page.getByText('No memory matches “painted” with project harbor-web and kind gotcha').waitFor()
      await page.getByRole('link', { name: 'Remove all filters' }).first().click()
      expect(new URL(page.url()).search).toBe('?q=painted')
      expect(await page.locator('#list > li').count()).toBe(3)
    })

    it.each(WIDTHS)('[OPERATE-137] suggests a spelling for a search with filters, at %i pixels', async (width) => {
      const page = await open('/search?q=anchros&by=words&kind=gotcha&project=harbor-web', { width, script: false })
      await page.getByText('No memory matches “anchros” with project harbor-web and kind gotcha').waitFor()
      await page.getByRole('link', { name: 'anchors' }).click()
      expect(new URL(page.url()).searchParams.get('q')).toBe('anchors')
    })

    it('[OPERATE-137] suggests a spelling while a person types', async () => {
      const page = await open('/search')
      await page.getByLabel('Search memories').pressSequentially('anchros')
      await page.getByRole('link', { name: 'anchors' }).waitFor()
      expect(complaints).toEqual([])
    })

    it('[OPERATE-137] suggests a spelling of words that memories hold', async () => {
      const page = await open('/search?q=anchros&by=words', { script: false })
      await page.getByRole('link', { name: 'anchors' }).click()
      expect(await page.locator('#list > li').count()).toBe(1)
    })
  })

  describe.each(['light', 'dark'] as const)('in %s colors', (scheme) => {
    it.each(WIDTHS)(
      '[OPERATE-130] no state of the frame keeps anybody out or overflows, at %i pixels',
      async (width) => {
        const page = await open('/', { width, scheme })
        const fits = async (state: string) => {
          const wide = await page.evaluate('document.documentElement.scrollWidth')
          expect([state, await violations(page), wide]).toEqual([state, [], width])
        }
        await fits('overview')
        if (width === 390) {
          await page.getByRole('button', { name: 'Menu' }).click()
          await fits('menu')
          await page.keyboard.press('Escape')
        }
        await page.keyboard.press('Control+k')
        await page.keyboard.type('buoy')
        await page.getByRole('option', { name: 'Buoys note' }).waitFor()
        await fits('palette')
        await page.goto(`${house.base}/search`)
        await page.getByLabel('Search memories').pressSequentially('painted')
        await page.locator('#list mark').first().waitFor()
        await page.getByRole('button', { name: 'Save view' }).click()
        await page.locator('summary', { hasText: 'Filters' }).click()
        await fits('live results, a saved view and filters')
        await page.goto(`${house.base}/search?q=anchros&by=words&kind=gotcha&field=title&op=exists&value=`)
        await fits('no result')
        await page.goto(`${house.base}/help`)
        await fits('help')
      },
    )
  })

  describe('the overview', () => {
    it('[OPERATE-138] shows no limit of D1 in open mode, and counts in correct English', async () => {
      const page = await open('/', { script: false })
      expect(await page.locator('main').textContent()).not.toMatch(/GB|1 (memories|threads|pieces)/)
    })

    it('[OPERATE-139] hides the first steps on request', async () => {
      const page = await open('/', { script: false })
      await page.getByRole('button', { name: 'Hide' }).click()
      await page.waitForURL(`${house.base}/`)
      expect(await page.getByText('First steps').count()).toBe(0)
    })

    it.each(WIDTHS)('[OPERATE-138] leads from each bar to its memories, at %i pixels', async (width) => {
      const page = await open('/', { width })
      await page.getByRole('link', { name: 'harbor-web', exact: true }).click()
      await page.waitForURL('**/search?project=harbor-web')
      expect(await page.locator('#list > li').count()).toBe(3)
      await page.goto(house.base)
      await page.locator('.days svg a').last().click()
      await page.waitForURL(/search\?from=(.+)&to=\1$/)
      expect(await page.locator('#list > li').count()).toBe(3)
      await page.goto(house.base)
      await page.getByRole('link', { name: '7 days' }).click()
      expect(await page.locator('.days svg a').count()).toBe(7)
      expect(await page.getByText('Nothing waits for you.').count()).toBe(1)
      expect(await page.locator('main').textContent()).not.toContain('GB')
    })

    it.each(WIDTHS)('[OPERATE-138] begins with what needs attention, at %i pixels', async (width) => {
      const page = await open('/', { width })
      const top = async (text: string) => (await page.getByText(text, { exact: true }).first().boundingBox())?.y ?? 0
      expect(await top('Needs your attention')).toBeLessThan(await top('Memories'))
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    })

    it.each(WIDTHS)('[OPERATE-139] ticks the first steps that are done, at %i pixels', async (width) => {
      const page = await open('/', { width, script: false })
      const steps = page.locator('.checklist > li')
      const states = async () => (await steps.evaluateAll((all) => all.map((one) => one.className))) as string[]
      expect(await page.getByText('First steps: 2 of 4 done').isVisible()).toBe(true)
      expect(await states()).toEqual(['done', 'done', '', ''])
      await page.getByText('Capture sessions').click()
      await page.getByText('setup claude-code --capture').waitFor()
    })

    it.each(WIDTHS)(
      '[OPERATE-139] starts an empty store with steps that tick themselves, at %i pixels',
      async (width) => {
        const empty = await startPlace()
        try {
          const at = houseOf(empty)
          const page = await open('/', { width, at })
          await page.getByText('0 of 4 steps done').waitFor()
          expect((await at.ask('/api/v1/hooks/claude-code', capturedSession())).status).toBe(200)
          await page.reload()
          await page.getByText('2 of 4 steps done').waitFor()
          await page.getByRole('button', { name: 'Store a first memory here' }).click()
          await page.waitForURL(/entries/)
          await page.goto(at.base)
          await page.getByText('First steps: 3 of 4 done').waitFor()
          await page.getByText('Let an agent recall a memory').waitFor()
          await at.call(null, 'search_context', { limit: 1 })
          await page.reload()
          expect(await page.getByText('First steps').count()).toBe(0)
          expect(complaints).toEqual([])
        } finally {
          await empty.stop()
        }
      },
    )
  })

  describe('keys in lists', () => {
    it.each(WIDTHS)('[OPERATE-134] move to a row, open it and edit it, at %i pixels', async (width) => {
      const page = await open('/search?project=harbor-web', { width })
      const names = ['Cranes', 'Buoys', 'Anchors']
      for (const [key, at] of [
        ['j', 0],
        ['j', 1],
        ['j', 2],
        ['j', 2],
        ['k', 1],
      ] as const) {
        await page.keyboard.press(key)
        expect(await focused(page)).toBe(names[at])
      }
      await page.keyboard.press('Enter')
      await page.waitForURL(`${house.base}/entries/${ids[1]}`)
      await page.goBack()
      await page.keyboard.press('j')
      await page.keyboard.press('e')
      await page.waitForURL(`${house.base}/entries/${ids[2]}/edit`)
      expect(complaints).toEqual([])
    })

    it.each(WIDTHS)('[OPERATE-134] move through the memories of a thread, at %i pixels', async (width) => {
      const page = await open('/threads/harbor', { width })
      await page.keyboard.press('j')
      await page.keyboard.press('j')
      await page.keyboard.press('Enter')
      await page.waitForURL(`${house.base}/entries/${ids[1]}`)
    })

    it('[OPERATE-134] are shown by ? and do nothing in a field or when they are switched off', async () => {
      const page = await open('/activity')
      await page.keyboard.press('?')
      await page.getByRole('dialog').getByText('Next row').waitFor()
      await page.keyboard.press('Escape')
      await page.keyboard.press('/')
      await page.keyboard.type('j?')
      expect(await page.getByLabel('Search everything').inputValue()).toBe('j?')
      await page.goto(`${house.base}/help`)
      await page.getByRole('button', { name: 'Switch off' }).click()
      await page.getByRole('button', { name: 'Switch on' }).waitFor()
      await page.goto(`${house.base}/activity`)
      await page.keyboard.press('j')
      await page.keyboard.press('?')
      expect([await focused(page), await page.getByRole('dialog').count()]).not.toContain('Cranes')
      expect(await page.evaluate('document.activeElement === document.body')).toBe(true)
    })
  })
}
