/** The path of uploaded avatars. Other avatars are generated, or derived from email addresses by clients. */
export const uploadedAvatarPath = '/user_avatars/of/';

export const isUploadedAvatar = (url: unknown): boolean =>
  typeof url === 'string' && url.startsWith(uploadedAvatarPath);
