import { expect, it } from 'vitest';
import { type DueSave, SaveSchedule } from '../../../src/domain/execution/checkpoints/save-schedule.ts';

const work = (at: number) => ({ kind: 'WORK', turn: null, withIgnored: false, at });
const end = (turn: number, at: number) => ({ kind: 'TURN_END', turn, withIgnored: false, at });
const ignored = (turn: number, at: number) => ({ kind: 'TURN_END', turn, withIgnored: true, at });

/** Starts the next save when it is due, and ends it after some time. Returns its plan. */
function run(schedule: SaveSchedule, lastsMs = 0): DueSave {
  const due = schedule.next() as DueSave;
  schedule.saveStarted(due.at, due);
  schedule.saveSucceeded(due.at + lastsMs, due);
  return due;
}

it('saves a second after a tool call that ended, and three seconds after the first change', () => {
  const schedule = new SaveSchedule();
  expect(schedule.next()).toBeNull();
  schedule.turnStarted(0);
  schedule.toolCall(1_000, 'a', true);
  expect(schedule.next()).toEqual(work(2_000));
  schedule.toolCall(1_900, 'b', true);
  expect(schedule.next()).toEqual(work(2_900));
  schedule.toolCall(2_800, 'c', true);
  expect(schedule.next()).toEqual(work(3_800));
  schedule.toolCall(3_700, 'd', true);
  expect(schedule.next()).toEqual(work(4_000));
  expect(schedule.unsavedSince).toBe(1_000);
});

it('saves every three seconds while a tool call runs, and every 30 while nothing is reported', () => {
  const schedule = new SaveSchedule();
  schedule.turnStarted(0);
  expect(schedule.next()).toEqual(work(30_000));
  schedule.toolCall(3_500, 'a', false);
  expect(run(schedule)).toEqual(work(6_500));
  expect(run(schedule)).toEqual(work(9_500));
  expect(schedule.unsavedSince).toBe(9_500);
  schedule.toolCall(10_000, 'a', true);
  expect(run(schedule)).toEqual(work(11_000));
  expect(schedule.unsavedSince).toBeNull();
});

it('saves ignored files when no tool call was reported for ten seconds, once a minute', () => {
  const schedule = new SaveSchedule();
  const inTurn = (at: number) => ({ kind: 'WORK', turn: null, withIgnored: true, at });
  schedule.turnStarted(0);
  schedule.toolCall(0, 'install', false);
  expect(run(schedule)).toEqual(work(3_000));
  schedule.toolCall(5_000, 'install', true);
  expect(run(schedule)).toEqual(work(6_000));
  expect(run(schedule)).toEqual(inTurn(15_000));
  expect(schedule.next()).toEqual(work(45_000));
  schedule.toolCall(40_000, 'b', true);
  expect(run(schedule)).toEqual(work(41_000));
  expect(run(schedule)).toEqual(work(71_000));
  expect(run(schedule)).toEqual(inTurn(75_000));
});

it('rests after a save as long as the save took', () => {
  const schedule = new SaveSchedule();
  schedule.turnStarted(0);
  schedule.toolCall(0, 'a', false);
  expect(run(schedule, 4_000)).toEqual(work(3_000));
  expect(schedule.next()).toEqual(work(11_000));
  expect(run(schedule, 60_000)).toEqual(work(11_000));
  expect(schedule.next()).toEqual(work(81_000));
});

it('saves the end of a turn at once, then ignored files, and those once a minute', () => {
  const schedule = new SaveSchedule();
  schedule.turnStarted(0);
  schedule.toolCall(0, 'a', false);
  schedule.turnEnded(500, 1);
  expect(schedule.unsavedEnd).toBe(1);
  expect(run(schedule, 300)).toEqual(end(1, 500));
  expect(schedule.unsavedEnd).toBeNull();
  expect(run(schedule)).toEqual(ignored(1, 500));
  expect(schedule.next()).toBeNull();
  schedule.turnStarted(10_000);
  schedule.turnEnded(11_000, 2);
  expect(run(schedule)).toEqual(end(2, 11_000));
  // While the agent is idle.
  expect(run(schedule)).toEqual(ignored(2, 60_500));
  expect(schedule.isIgnoredChanged).toBe(false);
  expect(schedule.next()).toBeNull();
});

it('repeats a failed save after longer and longer waits, with its kind', () => {
  const schedule = new SaveSchedule();
  schedule.turnStarted(0);
  schedule.turnEnded(0, 1);
  let now = 0;
  const waits: number[] = [];
  for (let n = 0; n < 7; n++) {
    const due = schedule.next() as DueSave;
    waits.push(due.at - now);
    now = due.at;
    expect(due.kind).toBe('TURN_END');
    schedule.saveStarted(now, due);
    schedule.saveFailed(now, due, false);
    expect(schedule.unsavedSince).toBe(0);
  }
  expect(waits).toEqual([0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000]);
  // The next turn begins: its end is not recorded apart, its changes are.
  schedule.turnStarted(now);
  expect(schedule.next()).toEqual(work(now + 30_000));
  run(schedule);
  expect(schedule.unsavedSince).toBeNull();
});

it('saves again what changed while a save failed, and repeats a stopped one without a wait', () => {
  const schedule = new SaveSchedule();
  schedule.turnStarted(0);
  schedule.turnEnded(0, 1);
  run(schedule);
  const due = schedule.next() as DueSave;
  expect(due.withIgnored).toBe(true);
  schedule.saveStarted(100, due);
  schedule.turnStarted(200);
  schedule.toolCall(300, 'a', true);
  schedule.saveFailed(400, due, true);
  expect(schedule.next()).toEqual(work(1_300));
  expect(schedule.unsavedSince).toBe(300);
});
