import { describe } from 'vitest'
import { consentInBrowser } from '../contracts/endpoint/consent-browser'
import { dashboardInBrowser } from '../contracts/endpoint/dashboard-browser'
import { dashboardKeysInBrowser } from '../contracts/endpoint/dashboard-keys-browser'
import { dashboardRecordsInBrowser } from '../contracts/endpoint/dashboard-records-browser'
import { useBrowser } from '../support/browser'

// Every page, in the other colours and widths, and through more sessions, in the nightly tier.
const browser = useBrowser()
describe('in one browser', () => dashboardInBrowser(browser, { looks: [[['light', 1280]]], pages: 'few', sessions: 4 }))
describe('in the same', () => dashboardKeysInBrowser(browser))
describe('in the same', () => dashboardRecordsInBrowser(browser))
describe('in the same', () => consentInBrowser(browser, { whole: false }))
