/** Where uploaded pictures of people are; all others are drawn, or made by clients from emails. */
export const uploadedAvatarPath = '/user_avatars/of/';

export const isUploadedAvatar = (url: unknown): boolean =>
  typeof url === 'string' && url.startsWith(uploadedAvatarPath);
