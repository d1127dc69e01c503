import { badRequest, collectionOperations } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { type Handlers, handleWrite } from '@natter/service-kit';
import { z } from 'zod';
import { toSelf } from '../model/change.ts';
import { lockAccount } from '../model/find-account.ts';
import type { SnapshotPart } from '../model/snapshot-part.ts';

/** Explanations that a client shows once; each is listed until then. */
const steps = [
  { type: 'one_time_notice', name: 'visibility_policy_banner' },
  { type: 'one_time_notice', name: 'intro_inbox_view_modal' },
  { type: 'one_time_notice', name: 'intro_recent_view_modal' },
  { type: 'one_time_notice', name: 'first_stream_created_banner' },
  { type: 'one_time_notice', name: 'jump_to_conversation_banner' },
  { type: 'one_time_notice', name: 'non_interleaved_view_messages_fading' },
  { type: 'one_time_notice', name: 'interleaved_view_messages_fading' },
  { type: 'one_time_notice', name: 'intro_resolve_topic' },
  { type: 'one_time_notice', name: 'navigation_tour_video' },
  { type: 'one_time_action', name: 'narrow_to_dm_with_welcome_bot_new_user' },
] as const;

export function onboardingStepHandlers(): Handlers {
  return [
    handleWrite(collectionOperations.markOnboardingStep, async (context, { onboarding_step }) => {
      const { userId } = context.actor;
      if (!steps.some(({ name }) => name === onboarding_step))
        throw badRequest(`Unknown onboarding_step: ${onboarding_step}`);
      return context.write(async (work) => {
        await lockAccount(work, userId);
        const marked = await work.run(sql.unsafe`
          INSERT INTO users.onboarding_step (user_id, name) VALUES (${userId}, ${onboarding_step}) ON CONFLICT DO NOTHING`);
        if (marked > 0)
          work.emit(toSelf(userId, 'onboarding_steps', { onboarding_steps: await stepsLeft(work, userId) }));
        return {};
      });
    }),

    handleWrite(collectionOperations.setTutorialStatus, async () => {
      return {};
    }),
  ];
}

async function stepsLeft(executor: Executor, userId: number): Promise<(typeof steps)[number][]> {
  const rows = await executor.any(
    sql.type(z.object({ name: z.string() }))`SELECT name FROM users.onboarding_step WHERE user_id = ${userId}`,
  );
  const seen = new Set(rows.map((row) => row.name));
  return steps.filter(({ name }) => !seen.has(name));
}

export const onboardingStepsSnapshot: SnapshotPart = {
  types: ['onboarding_steps'],
  read: async (executor, { viewer }) => ({
    onboarding_steps: await stepsLeft(executor, viewer.userId),
    navigation_tour_video_url: null,
  }),
  spectators: { onboarding_steps: [], navigation_tour_video_url: null },
};
