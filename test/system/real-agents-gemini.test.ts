import { tellStory } from '../support/real-agent-story.ts';
import { findGemini } from '../support/real-agents.ts';

tellStory(findGemini());
