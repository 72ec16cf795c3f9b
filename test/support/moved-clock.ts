// Loaded before a server: shifts its clock at once by the number of ms in a file, as if somebody set it. Timers do not
// change, because they use another clock.
import { readFileSync } from 'node:fs';

const file = process.env.MOVED_CLOCK ?? '';
const RealDate = Date;
const now = () => RealDate.now() + Number(readFileSync(file, 'utf8'));

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [now()] : args, made),
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
