import { noticesContract } from '../contracts/notices'

noticesContract()
