#!/bin/sh
#SBATCH --job-name=counted
#SBATCH --ntasks=4
#
# sbatch slurm.sh PROGRAM [ARGUMENT...]
#
# Counts each task of a Slurm job, and then all together: in DIR, by default where the job was submitted,
# counts.0.json and so on for the tasks, and counts.txt with the sums and how the tasks differ. Each node
# has the module loaded; nothing else has to be set up.
set -eu

dir=${DIR:-${SLURM_SUBMIT_DIR:-.}}
srun perfex --json -o "$dir/counts.%q{SLURM_PROCID}.json" -- "$@"
perfex merge "$dir"/counts.*.json >"$dir/counts.txt"
