import { describe } from 'vitest'
import { consentInBrowser } from '../../contracts/endpoint/consent-browser'
import { dashboardInBrowser } from '../../contracts/endpoint/dashboard-browser'
import { useBrowser } from '../../support/browser'

const browser = useBrowser()
describe('in one browser', () =>
  dashboardInBrowser(browser, {
    looks: [[['light', 1280]], [['light', 320]], [['dark', 1280]], [['dark', 320]]],
    pages: 'every',
    sessions: 100,
  }))
describe('in the same', () => consentInBrowser(browser, { whole: true }))
