/**
 * What is to be known of the real gateway project below ../shared, whose history some tests follow commit by commit.
 */

/**
 * Takes core's security-properties out of the repository, for each gateway has its own: a gateway that follows would lose them, so somebody
 * has to confirm.
 */
export const leavesSettingsOut = 'c00deafa75e78f90c26e26216c1e2384f747c8b4'
