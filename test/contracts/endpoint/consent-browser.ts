import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Callback, contrastOf, startCallback } from '../../support/browser'
import { type Deployment, type Key, pkce, startDeployment } from '../../support/oauth'

/**
 * The consent page in a real browser without script, by keyboard alone.
 *
 * @param whole includes two tabs, the parts for a screen reader, and the contrast
 */
export function consentInBrowser(browser: () => Browser, { whole }: { readonly whole: boolean }): void {
  let deployment: Deployment
  let callback: Callback
  let holder: Key
  let context: BrowserContext
  let page: Page
  /** Errors that the browser reported, including violations of the content security policy. */
  let complaints: string[] = []

  beforeAll(async () => {
    ;[deployment, callback] = await Promise.all([startDeployment(), startCallback()])
    holder = await deployment.key()
    // One for all tests: starting one takes most of the time of a page.
    context = await browser().newContext({ javaScriptEnabled: false, viewport: { width: 320, height: 640 } })
  }, 300_000)
  afterAll(async () => {
    await context?.close()
    await Promise.all([deployment?.stop(), callback?.stop()])
  })

  beforeEach(async () => {
    complaints = []
    page = await context.newPage()
    page.on('console', (message) => complaints.push(message.text()))
    page.on('requestfailed', (request) => complaints.push(`${request.url()} ${request.failure()?.errorText}`))
  })
  afterEach(async () => {
    await Promise.all(context.pages().map((one) => one.close()))
    await context.clearCookies()
  })

  /** A client of its own, and the page that asks about it. */
  async function arrive(metadata = {}) {
    const { client_id } = await deployment.register({ redirect_uris: [callback.url], ...metadata })
    const { verifier, challenge } = pkce()
    await page.goto(deployment.addressFor(client_id, challenge, { redirect_uri: callback.url }))
    return { client_id, verifier }
  }
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  const sentBack = async (): Promise<URLSearchParams> => {
    await page.waitForURL('**/done')
    return (callback.heard.at(-1) as URL).searchParams
  }

  describe('the consent page in Chromium', () => {
    it('is worked by keyboard from the key to a token, through a redirect on the client’s own site', async () => {
      const { client_id, verifier } = await arrive()
      await press('Tab')
      await page.keyboard.type(holder.key)
      await press('Tab', 'Enter')
      const code = (await sentBack()).get('code')
      const { status, body } = await deployment.exchange(client_id, code, verifier, { redirect_uri: callback.url })
      expect(status).toBe(200)
      expect((await deployment.call(body.access_token, 'list_threads')).status).toBe(200)
      expect(complaints).toEqual([])
      expect(await context.cookies(deployment.base)).toEqual([])
    })

    it('shows the error next to the field, where the person already is', async () => {
      await arrive()
      await press('Tab')
      await page.keyboard.type('cp_mistyped')
      await press('Enter')
      expect(await page.getByRole('alert').textContent()).toMatch(/^This key is not valid\./)
      const field = page.getByLabel('Your Commonplace key')
      expect(await field.inputValue()).toBe('')
      expect(await page.title()).toMatch(/^Error: /)
      await page.keyboard.type(holder.key)
      await press('Enter')
      expect((await sentBack()).get('code')).toBeTruthy()
      expect(complaints).toEqual([expect.stringContaining('status of 400')])
    })

    it('accepts a refusal without a key', async () => {
      await arrive()
      await press('Tab', 'Tab', 'Tab', 'Enter')
      expect((await sentBack()).get('error')).toBe('access_denied')
      expect(complaints).toEqual([])
    })

    it('fits a screen of 320 pixels, for any name of the client', async () => {
      await arrive({ client_name: 'W'.repeat(500) })
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
    })

    it('is shown in no frame', async () => {
      const { client_id } = await deployment.register({ redirect_uris: [callback.url] })
      const address = deployment.addressFor(client_id, pkce().challenge, { redirect_uri: callback.url })
      await page.goto(`${callback.origin}/?frame=${encodeURIComponent(address)}`)
      const frame = page.frames()[1]
      expect(await frame?.locator('form').count()).toBe(0)
      expect(complaints.join('\n')).toMatch(/frame/i)
    })

    if (!whole) return

    it('works in two tabs at once', async () => {
      await arrive()
      const first = page
      page = await context.newPage()
      await arrive()
      for (const tab of [first, page]) {
        await tab.getByLabel('Your Commonplace key').fill(holder.key)
        await tab.getByRole('button', { name: 'Allow' }).click()
        await tab.waitForURL('**/done')
      }
    })

    it('has a language, landmarks and field descriptions for a screen reader', async () => {
      await arrive()
      expect(await page.locator('html').getAttribute('lang')).toBe('en')
      expect(await page.locator('main').ariaSnapshot()).toBe(
        [
          '- main:',
          '  - heading "Allow A client to use your memory?" [level=1]',
          '  - term: Published by',
          '  - definition: "unknown: this app registered itself, and its name is not verified"',
          '  - term: You will be sent back to',
          `  - definition: ${callback.origin.slice(7)}`,
          '  - paragraph: This is a program on your own computer. Continue only if you have just started connecting it yourself.',
          '  - heading "It will be able to" [level=2]',
          '  - list:',
          '    - listitem: "read memory, and change it as far as the key below may: in its organization and projects, with its role"',
          '  - paragraph: It never sees the key. Its access ends 30 days from now, or at once when the key is revoked.',
          '  - text: Your Commonplace key',
          '  - textbox "Your Commonplace key"',
          '  - paragraph: It begins with cp_. An administrator of your organization makes keys.',
          '  - button "Allow"',
          '  - button "Refuse"',
        ].join('\n'),
      )
      const field = page.getByRole('textbox', { name: 'Your Commonplace key' })
      expect(await field.getAttribute('type')).toBe('password')
      expect(await field.getAttribute('autocomplete')).toBe('off')
    })

    it('is readable in light and in dark, and shows where the keyboard is', async () => {
      await arrive()
      await press('Tab', 'Enter')
      await page.getByLabel('Your Commonplace key').fill('x')
      await press('Enter')
      await page.getByRole('alert').waitFor()
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        for (const part of ['h1', 'dt', '.hint', '.error', 'label', 'input', 'button.main', 'button:last-child'])
          expect([colorScheme, part, await contrastOf(page, part)]).toEqual([
            colorScheme,
            part,
            expect.toSatisfy((n) => n >= 4.5),
          ])
        expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid')
      }
    })
  })
}
