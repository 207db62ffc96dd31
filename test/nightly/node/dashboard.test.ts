import { dashboardInBrowser } from '../../contracts/endpoint/dashboard-browser'

dashboardInBrowser({
  looks: [
    ['light', 320],
    ['dark', 1280],
    ['light', 640],
  ],
  sessions: 100,
})
