import { proposalContract } from '../contracts/proposals'

proposalContract()
