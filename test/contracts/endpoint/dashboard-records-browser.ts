import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type House, houseOf } from '../../support/dashboard'
import type { Json } from '../../support/oauth'
import { startPlace } from '../../support/places'
import type { RunningServer } from '../../support/server'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const WIDTHS = [1280, 390]
/** Elements whose text is wider than their box, or that leave the page. Regions that scroll are left out. */
const CLIPPED = `[...document.querySelectorAll('main *')].filter((one) => {
  if (one.closest('pre, .scroll, .graph, svg, .hidden, .excerpt, textarea, input, select, [hidden], .stacked thead')) return false
  const box = one.getBoundingClientRect()
  return box.width > 0 && (box.right > innerWidth + 1 || box.left < -1 || one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflow === 'hidden')
}).map((one) => one.outerHTML.slice(0, 120))`

/** Memories, activity, packs, threads and projects in a real browser, at the widths of a desk and a phone. */
export function dashboardRecordsInBrowser(browser: () => Browser): void {
  let server: RunningServer
  let house: House
  let context: BrowserContext | undefined
  let complaints: string[] = []

  const store = (text: string, more: Json = {}): Promise<number> =>
    house
      .call(null, 'store_context', { thread_id: 'harbor', source: 'agent', text, ...more })
      .then(({ context_id }: { context_id: number }) => context_id)
  const read = async (id: number): Promise<Json> =>
    (await house.call(null, 'get_context_by_ids', { context_ids: [id] })).result[0]

  beforeAll(async () => {
    server = await startPlace({}, { backups: true })
    house = houseOf(server)
  }, 300_000)
  afterAll(() => server?.stop())
  afterEach(async () => {
    await context?.close()
    context = undefined
  })

  async function open(path: string, { width = 1280, script = true } = {}): Promise<Page> {
    await context?.close()
    complaints = []
    context = await browser().newContext({
      javaScriptEnabled: script,
      viewport: { width, height: 844 },
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const page = await context.newPage()
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.goto(house.base + path)
    return page
  }

  /** Checks the page that is open: accessible, and nothing clipped, with everything unfolded. */
  async function isSound(page: Page): Promise<void> {
    const path = page.url().slice(house.base.length)
    await page.evaluate("for (const one of document.querySelectorAll('main details')) one.open = true")
    const session = await page.context().newCDPSession(page)
    await session.send('Runtime.evaluate', { expression: AXE })
    await session.detach()
    const found = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as Json
    expect([path, found.violations.map(({ id, nodes }: Json) => `${id}: ${nodes[0].html}`)]).toEqual([path, []])
    expect([path, await page.evaluate(CLIPPED)]).toEqual([path, []])
  }

  describe.each(WIDTHS)('the records of the dashboard at %i pixels', (width) => {
    it('[OPERATE-163] edits a memory where it is shown, and undoes that, without script', async () => {
      const far = await store('The far quay.', { metadata: { title: 'Far quay' } })
      const near = await store('The near quay.', { metadata: { title: 'Near quay', depends_on: [far] } })
      const sources = [{ path: 'src/harbor/quay.ts', lines: '12-40', commit: '3f2c9a1', changed_at: '2026-11-02' }]
      const id = await store('Boats moor at the quay.', {
        metadata: { title: 'Mooring', references: { context_ids: [near] }, sources },
        tags: ['quay'],
      })
      const page = await open(`/entries/${id}`, { width, script: false })
      await page.getByText('Edit details').click()
      await page.getByLabel('Title').fill('Mooring boats')
      await page.getByLabel('Kind').selectOption('rule')
      await page.locator('.beside').getByRole('button', { name: 'Store' }).click()
      await page.getByRole('heading', { name: 'Mooring boats', level: 1 }).waitFor()
      expect((await read(id)).metadata).toMatchObject({ title: 'Mooring boats', kind: 'rule', sources })
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByRole('heading', { name: 'Mooring', level: 1, exact: true }).waitFor()
      expect(await page.locator('.graph .node').count()).toBe(3)
      await page.getByText('Edit text').click()
      await page.getByLabel('Text', { exact: true }).fill('Boats and ferries moor at the old quay.')
      await page.locator('article').getByRole('button', { name: 'Store' }).click()
      await page.getByText('Your changes are stored').waitFor()
      expect(await page.locator('.diff .add b').allTextContents()).toEqual(['and ferries ', 'old '])
    })

    it('[OPERATE-154] shows a memory, its forms and their errors without a barrier', async () => {
      const one = await store('Linked.', { metadata: { title: 'W'.repeat(80) } })
      const metadata = { title: 'Sound', depends_on: [one], supersedes: [await store('An older one.')] }
      const id = await store(`A text with ${'w'.repeat(200)}`, { metadata })
      await store('Links to it.', { metadata: { contradicts: [id] } })
      const page = await open(`/entries/${id}`, { width })
      await isSound(page)
      for (const path of ['edit', 'edit?view=json', 'delete?unsure=yes']) {
        await page.goto(`${house.base}/entries/${id}/${path}`)
        await isSound(page)
      }
      await page.goto(`${house.base}/entries/${id}/edit?view=json`)
      await page.getByLabel('Metadata').fill('{\n  "kind": note\n}')
      await page.getByRole('button', { name: 'Store' }).click()
      await page.getByText('Line 2 is not JSON').waitFor()
      expect(await page.getByLabel('Metadata').inputValue()).toContain('"kind": note')
      await isSound(page)
      await page.goto(`${house.base}/entries/${id}/delete`)
      await page.getByRole('button', { name: 'Delete', exact: true }).click()
      await page.getByRole('button', { name: 'Undo' }).waitFor()
      await page.goto(`${house.base}/deleted`)
      await page.getByRole('button', { name: 'Restore Sound' }).waitFor()
      await isSound(page)
      await page.getByRole('button', { name: 'Restore Sound' }).click()
      await page.getByText('1 memory was restored').waitFor()
      expect(complaints.filter((text) => !text.includes('400'))).toEqual([])
    })

    it('[OPERATE-160] follows the activity of one project, and of no other', async () => {
      await store('Before.', { metadata: { project: 'pier' } })
      const page = await open('/activity?project=pier', { width })
      await page.getByText('Live: new changes appear here').waitFor()
      await store('Of another project.', { metadata: { project: 'dock' } })
      await store(`Seen at once, ${width}.`, { metadata: { project: 'pier' } })
      await page.locator('.day-group').first().getByText(`Seen at once, ${width}.`).waitFor()
      expect(await page.getByText('Of another project.').count()).toBe(0)
      await isSound(page)
      expect(complaints).toEqual([])
    })

    it('[OPERATE-155] deletes selected threads and undoes that, without script', async () => {
      await store('In a thread.', { thread_id: `gone ${width}` })
      const page = await open(`/threads?contains=gone+${width}`, { width, script: false })
      await page.getByLabel(`Select gone ${width}`).check()
      await page.getByRole('button', { name: 'Delete selected' }).click()
      await page.getByText('1 memory was deleted').waitFor()
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByText('The memories were restored').waitFor()
      await page.goto(`${house.base}/threads?sort=name`)
      await page.getByRole('link', { name: `gone ${width}` }).waitFor()
    })

    it('[OPERATE-156] renames a project in its row and undoes that; administration has no barrier', async () => {
      const project = `slip-${width}`
      await store('Of a project.', { metadata: { project } })
      const page = await open('/projects?sort=name', { width, script: false })
      const row = page.getByRole('row').filter({ hasText: project })
      await (width === 390 ? page.locator('tr').filter({ hasText: project }) : row).getByText('Manage').click()
      await page.locator('tr').filter({ hasText: project }).getByLabel('Name').fill(`The slip ${width}`)
      await page.locator('tr').filter({ hasText: project }).getByRole('button', { name: 'Rename' }).click()
      await page.getByText('The project is renamed').waitFor()
      await page.getByRole('button', { name: 'Undo' }).first().click()
      await page.getByText('The change is undone').waitFor()
      const sound = await open('/projects', { width })
      await isSound(sound)
      for (const path of ['/threads', '/keys', '/audit', '/audit?from=tomorrow']) {
        await sound.goto(house.base + path)
        await isSound(sound)
      }
    })

    it('[OPERATE-195] backs up now, without script, on a page that is sound before and after', async () => {
      await store('To be backed up.')
      const page = await open('/backups', { width })
      await isSound(page)
      const plain = await open('/backups', { width, script: false })
      await plain.getByRole('button', { name: 'Back up now' }).click()
      await plain.getByText('The backup is complete').waitFor()
      await isSound(await open('/backups', { width }))
      expect(complaints).toEqual([])
    })

    it('[OPERATE-193] shows the cost of the month, with each day unfolded', async () => {
      const page = await open('/cost', { width })
      await page.getByText('Expected on the Paid plan').waitFor()
      await isSound(page)
      expect(complaints).toEqual([])
    })

    it('[OPERATE-159] compares the packs of two goals, and copies one as Markdown', async () => {
      await store('Cranes lift containers.', { metadata: { title: 'Cranes lift', project: 'yard' } })
      await store('Trucks queue at the gate.', { metadata: { title: 'Trucks queue', project: 'yard' } })
      const page = await open('/pack?project=yard&goal=how+do+cranes+lift', { width })
      await isSound(page)
      await page.getByRole('button', { name: 'Copy' }).click()
      expect(await page.evaluate('navigator.clipboard.readText()')).toContain('Cranes lift')
      await page.getByLabel('Compare with another goal').fill('where do trucks queue')
      await page.getByRole('button', { name: 'Compile' }).click()
      await page.getByRole('heading', { name: 'Both goals' }).waitFor()
      await isSound(page)
      expect(complaints).toEqual([])
    })
  })
}
