import { wranglerDevContract } from '../contracts/wrangler-dev'

// Twice, behind keys first: test/nightly.
wranglerDevContract({ stays: false })
