import { wranglerDevContract } from '../../contracts/wrangler-dev'

wranglerDevContract({ stays: true })
