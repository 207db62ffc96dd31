import { dashboardInBrowser } from '../contracts/endpoint/dashboard-browser'

dashboardInBrowser({
  looks: [
    [
      ['light', 1280],
      ['dark', 320],
    ],
  ],
  sessions: 5,
})
