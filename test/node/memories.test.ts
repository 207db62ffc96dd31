import { eventContract } from '../contracts/endpoint/events'
import { memoryContract } from '../contracts/endpoint/memories'
import { oneTaskContract } from '../contracts/endpoint/one-task'
import { orientContract } from '../contracts/endpoint/orient'
import { recallWireContract } from '../contracts/endpoint/recall'
import { workingDayContract } from '../contracts/endpoint/working-day'
import { CLIENTS, type Connect } from '../support/clients'

const connect = CLIENTS['SDK v2, revision 2026-07-28'] as Connect
memoryContract(connect)
orientContract(connect)
recallWireContract(connect)
eventContract(connect)
oneTaskContract(connect)
workingDayContract(connect)
