import { appsInBrowser } from '../contracts/endpoint/apps-browser'
import { useBrowser } from '../support/browser'

appsInBrowser(useBrowser())
