// Loaded before a server: its clock goes wrong by as many ms as a file says, at once, as when somebody sets it. Timers, which
// go by another clock, do not.
import { readFileSync } from 'node:fs';

const file = process.env.MOVED_CLOCK ?? '';
const RealDate = Date;
const now = () => RealDate.now() + Number(readFileSync(file, 'utf8'));

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [now()] : args, made),
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
