/**
 * What a connection is told before anything else. Prisma writes times without a zone: they mean UTC only where the connection
 * says so. A page anywhere costs next to what the next one does, as on every disk of today: otherwise a table of a few hundred
 * rows is read whole for one of them, and what messages leave behind in it until it is vacuumed is read each time.
 */
export const connectionSettings = `set time zone 'UTC'; set random_page_cost = 1.1`;
