import { tellStory } from '../support/real-agent-story.ts';
import { findClaude, findCodex } from '../support/real-agents.ts';

for (const agent of [findCodex(), findClaude()]) tellStory(agent);
