import { dashboardInBrowser } from '../contracts/endpoint/dashboard-browser'

// In the other colours and widths, and through more sessions, in the nightly tier.
dashboardInBrowser({ looks: [[['light', 1280]]], sessions: 5 })
