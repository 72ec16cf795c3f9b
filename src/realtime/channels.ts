import type { Topic } from './topics.ts';

/** The channel that every process listens to. Versions that have only this one send all topics on it. */
export const commonChannel = 'switchyard';

/**
 * The number of channels for topics with an id. A process also receives the topics that share a channel with one that it watches: with
 * 4,096 channels and 100 watched sessions, one in forty of the others. PostgreSQL compares each notification with all channels of a
 * connection, so there are not many more.
 */
const hashedChannels = 4_096;

/**
 * Returns the channel of a topic. Topics with an id are distributed by a hash of it. All others have their own, so that a process receives
 * only what it watches. Revocations reach every process.
 */
export function channelOf(topic: Topic): string {
  if (topic === 'keys') return commonChannel;
  const [name = '', id] = topic.split(':');
  if (id === undefined || id === '*') return `${commonChannel}.${name}`;
  return `${commonChannel}.${hash(topic) % hashedChannels}`;
}

/** Returns the topic whose listeners receive all topics of its name; null if there is none. */
export function wildcardOf(topic: Topic): Topic | null {
  if (topic.startsWith('organization:')) return 'organization:*';
  return topic.startsWith('resources:') ? 'resources:*' : null;
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let n = 0; n < text.length; n++) value = Math.imul(value ^ text.charCodeAt(n), 0x01000193) >>> 0;
  return value;
}
