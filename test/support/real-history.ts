/**
 * Facts about the real gateway project below ../shared; some tests follow its history commit by commit.
 */

/**
 * The commit that removes core's security-properties from the repository, because each gateway has its own: a gateway that follows would
 * lose them, so a user has to confirm.
 */
export const leavesSettingsOut = 'c00deafa75e78f90c26e26216c1e2384f747c8b4'
