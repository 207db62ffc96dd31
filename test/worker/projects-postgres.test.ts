// The same on PostgreSQL, which these tests find by its binding; the query makes this a second module in the process.
import './projects.test?postgres'
