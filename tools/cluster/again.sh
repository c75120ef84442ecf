# For the scripts beside it: runs a step of a job that may have to wait in the queue again.
#
# run_step COMMAND... runs it as a step. Shortly before the job's time is over, or when it is preempted,
# SLURM sends SIGUSR1 to the script (#SBATCH --signal=B:USR1@SECONDS), which passes it on to all tasks
# of the step: they save what they have and end. Then `stopped` is 1. `status` is that of the command.
stopped=0
run_step() {
  trap 'stopped=1; scancel --signal=USR1 "$SLURM_JOB_ID"' USR1
  "$@" &
  local step=$!
  # A trap ends the waiting, not the step.
  while wait "$step"; status=$?; kill -0 "$step" 2>/dev/null; do :; done
}
